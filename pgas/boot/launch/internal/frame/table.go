package frame

// One row of the table of blocked PEs, and what a report says of it.

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
)

// Blocked is a PE's Blocked page at some moment.
type Blocked struct {
	PE      int
	Op      boot.BlockedOp
	Peer    int
	Seq     uint64
	Team    uint32
	ForNsec int64
	Exited  bool
	Name    string // the name of the word or the lock in the program; empty: not known
	Site    string // the line of the program's call; empty: not known
	Stalled uint32 // not 0: nothing moves in it (boot.Blocked.Stalled)

	Ends   bool           // the PE has published that it ends
	Reason boot.EndReason // why the PE ends
}

// endings say what a PE is doing that has published that it ends.
var endings = map[boot.EndReason]string{
	boot.EndUnknown: "ending", boot.EndOwn: "ending with an error of its own", boot.EndMismatch: "ending with a mismatch of collectives",
	boot.EndLost: "ending because of a PE that it has lost", boot.EndOnRequest: "ending on request",
	boot.EndStopped: "ending, with its state saved",
}

// String returns what the PE is doing, without for how long.
func (b Blocked) String() string {
	if b.Op == boot.NotBlocked {
		if b.Ends {
			return endings[b.Reason]
		}
		return b.Op.String()
	}
	s := "in " + b.Op.String()
	if b.Op == boot.InLibrary && b.Name != "" {
		s = "in " + b.Name
	}
	switch b.Op {
	case boot.InWait:
		s += b.place(" on ", "its heap", " on the word at ")
	case boot.InLock:
		s += b.place(" ", "the heap", " at ")
	case boot.InFetch, boot.InRelease:
		s += fmt.Sprintf(", block %d", b.Seq)
		if b.Name != "" {
			s += " (" + b.Name + ")"
		}
	case boot.InBarrier, boot.InCollective, boot.InLibrary:
		if b.Op == boot.InLibrary && b.Seq == 0 {
			break // it is no call of a team
		}
		s += fmt.Sprintf(" number %d", b.Seq)
		if b.Team != 0 {
			s += fmt.Sprintf(" of team %d", b.Team)
		}
	}
	if b.Peer >= 0 {
		s += fmt.Sprintf(", waiting for PE %d", b.Peer)
	}
	if b.Site != "" {
		s += ", called at " + b.Site
	}
	return s
}

// place describes the word or the lock that the PE waits for: beforeName and its name if it has one, otherwise
// beforeOffset and its offset in heap.
func (b Blocked) place(beforeName, heap, beforeOffset string) string {
	if b.Name != "" {
		return fmt.Sprintf("%s%s (at %#x of %s)", beforeName, b.Name, b.Seq, heap)
	}
	return fmt.Sprintf("%s%#x of %s", beforeOffset, b.Seq, heap)
}
