package pgas

// Notes that arrive at this PE, for package notify, and initiators that wait for space at a target. The queue itself is
// in internal/node: notes beyond what it may keep stay in shared memory, and their initiators wait.

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Note is what a notified access leaves at its target.
type Note = transport.Note

// NoteID is the source and the tag of a Note.
type NoteID = transport.Stamp

// NoteQueue is the notes that have arrived at a PE, in the order of their arrival. It is for package notify: programs
// wait for notes by its requests.
type NoteQueue = node.NoteQueue

// NoteQueue returns the notes that have arrived at this PE.
func (w *World) NoteQueue() *NoteQueue {
	w.mustBeOpen("World.NoteQueue")
	return w.n.Notes
}

// reportNotes prints which notes no request has waited for when the World ends. Their data has arrived, so it is
// no error, but the program that sent them expected more.
func (w *World) reportNotes() {
	const most = 3
	left := w.n.Notes.Unreceived()
	if len(left) == 0 {
		return
	}
	var which []string
	for _, n := range left[:min(most, len(left))] {
		which = append(which, fmt.Sprintf("from PE %d with tag %d (%d bytes)", n.Source(), n.Tag(), n.Bytes))
	}
	if len(left) > most {
		which = append(which, "…")
	}
	fmt.Fprintf(os.Stderr, "pgas: PE %d on %s: nobody waited for %d of the notifications that arrived: %s; wait for each with a notify.Request, or leave the notification out where nobody needs it\n",
		w.n.Job.PE, w.Host(), len(left), strings.Join(which, ", "))
}

// A backpressure is the wait of a notified access for room at its target.
type backpressure struct {
	tries int
	mark  record.Mark
	err   error // why the wait is pointless
}

// waitForSpace is between two attempts to leave a note at pe of the job. It reports false if there is no
// hope; the access is then lost, which the quiets of c report.
func (c *Context) waitForSpace(pe int, r *backpressure) bool {
	const (
		yields  = 50
		mostNap = time.Millisecond
	)
	w := c.w
	if r.tries == 0 {
		r.mark = w.n.Block(node.Blocked{Op: boot.InNotify, Peer: pe})
	}
	if r.tries++; r.tries == yields {
		w.n.PublishCall()
	}
	w.n.Notes.Drain()
	if err := w.n.EndedError(w.n.Ctx); err != nil {
		r.err = noSpaceAt(pe, err)
		c.leaveError(r.err, errors.As(err, new(*NotesError))) // there is room again when notifications are taken
		return false
	}
	switch {
	case w.n.Sched != nil:
		w.n.Sched.Yield()
	case r.tries <= yields:
		w.n.Yield()
	default:
		// The target does not ring when it has space, but an initiator that wants space at this PE does.
		door := w.n.State.Doorbell.Load()
		if !w.n.Notes.Ring.SpaceRequested() || w.n.Notes.Congestion.Since.Load() != 0 {
			w.n.State.Sleep(door, min(mostNap, time.Duration(r.tries-yields)*20*time.Microsecond))
		}
	}
	return true
}

// endBackpressure ends the wait.
func (c *Context) endBackpressure(r *backpressure) {
	if r.tries > 0 {
		c.w.n.Unblock(r.mark)
	}
}

// NotesError reports that a PE keeps the maximal number of notifications that no request has waited for, and has
// waited for something else for so long that it may be deadlocked with initiators that wait for room.
type NotesError struct {
	PE     int // the PE that keeps the notifications
	Host   string
	Kept   int           // how many notifications it keeps
	Oldest NoteID        // source and tag of the oldest notification
	Since  time.Duration // how long there has been no room for further notifications
	Target int           // where the PE has no room for a notification of its own, or -1
}

func (e *NotesError) Error() string {
	s := fmt.Sprintf("PE %d on %s keeps %s that no request has waited for, the oldest from PE %d with tag %d, and has had no room for more for %v",
		e.PE, e.Host, plural.Count(e.Kept, "notification"), e.Oldest.Source(), e.Oldest.Tag(), e.Since.Round(time.Millisecond))
	if e.Target >= 0 {
		s = fmt.Sprintf("there is no room for a notification at PE %d, and ", e.Target) + s
	}
	return s + "; wait for each with a notify.Request, leave them out where no PE needs them, or set PGAS_NOTES_MAX to keep more"
}

// noSpaceAt adds the target to err, the error of a wait for room at pe.
func noSpaceAt(pe int, err error) error {
	var full *NotesError
	if !errors.As(err, &full) {
		return err
	}
	with := *full
	with.Target = pe
	return &with
}

// notesFull returns the *NotesError of this PE.
func (w *World) notesFull(kept int, oldest NoteID, since time.Duration) error {
	return &NotesError{PE: w.n.Job.PE, Host: w.n.HostName(w.n.Job.PE), Kept: kept, Oldest: oldest, Since: since, Target: -1}
}
