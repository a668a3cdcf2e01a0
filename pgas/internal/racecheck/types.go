package racecheck

// What a PE tells the detectors of other PEs, and what it asks them.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// How says how an access touches its bytes. Accesses race if one of the two writes and not both are atomic.
type How uint8

// The accesses.
const (
	Read How = iota
	AtomicRead
	AtomicWrite
	Write
)

func (h How) writes() bool { return h >= AtomicWrite }

func (h How) atomic() bool { return h == AtomicRead || h == AtomicWrite }

// covers reports whether every access that races with one like other also races with one like h.
func (h How) covers(other How) bool {
	switch h {
	case Write:
		return true
	case AtomicWrite:
		return other.atomic()
	case Read:
		return other == Read || other == AtomicRead
	}
	return other == AtomicRead
}

// After says what an access comes after: what Clock holds, the steps of its PE before it, and earlier operations of its
// context to the same PE.
type After struct {
	Clock  *Clock // does not change any more
	Fenced UpTo   // operations to that PE
}

// UpTo are the operations up to a number of each of a context's first streams: the plain and the notified ones, and the
// gets that do not wait.
type UpTo [3]uint64

// join adds other operations.
func (u *UpTo) join(other *UpTo) {
	for i, n := range other {
		u[i] = max(u[i], n)
	}
}

// has reports whether u has all of other.
func (u *UpTo) has(other *UpTo) bool {
	return u[0] >= other[0] && u[1] >= other[1] && u[2] >= other[2]
}

// An Access is one access to symmetric memory, or to memory that an operation under way uses.
type Access struct {
	Strand
	After
	How   How
	Local bool // the access is to memory of From that the operation reads or fills
	more  bool // of a step of From: Clock has more than From knew at the call
	Site  Site
}

// Release says where a PE that sees an effect of an access acquires what the access comes after. It is a set.
type Release uint8

// The elements of a Release.
const (
	ReleaseWord Release = 1 << iota // the clock of the word at Record.Off
	ReleaseNote                     // the clocks of the notes with Record.Key
	ReleaseCall                     // the clocks of the collective Record.Call
	Freed                           // nowhere: the bytes from Record.Off to Record.Stride are freed
	Exempted                        // nowhere: accesses to these bytes are not judged until they are freed
)

// A Record tells a PE's detector of an access to the memory of that PE, and what it releases. If Count is 0 there is no
// access: the record releases alone.
type Record struct {
	Access
	Off     uint64 // offset in the heap of the first block
	Bytes   uint64 // size of a block
	Stride  uint64 // from the start of one block to the next; not used for one
	Count   uint64 // number of blocks
	Release Release
	Key     NoteKey // for ReleaseNote
	Mixed   bool    // for ReleaseNote: notes with this key may arrive in another order than that of their records
	Call    CallKey // for ReleaseCall
}

// A NoteKey is what the target of a notified access learns from its note.
type NoteKey struct {
	Stamp      transport.Stamp
	Bytes, Off uint64
}

// A CallKey names a collective, or the part of a member in it. The first member of the team holds its clocks.
type CallKey struct {
	Home   int32  // the first member, a PE of the job
	Slot   int32  // the slot of the team
	Number uint64 // the number of the call
	Member int32  // in a release: the number in the team of the member that enters
	Size   int32  // number of members
}

// A Question asks a PE's detector for a clock.
type Question struct {
	Word, Bytes uint64   // the words from an offset on, so many bytes; if Bytes is 0, one of the following
	Note        *NoteKey // the next note with this key, which a request of this PE has got
	Stays       bool     // no request has got the note yet: it is the next one again
	Call        *CallKey // the collective
	First, Last int32    // of the collective: the members whose clocks are asked for, Last included
	Known       *Clock   // what the asking PE knows: the answer may leave it out, or have it too
}

// A Carrier takes records to the detectors of PEs and asks them.
type Carrier interface {
	// Tell takes r to the detector of a PE. An operation that has an effect which others may see, and then acquire
	// r, is issued on via after Tell returns. via is nil if no operation follows. r is used until Tell returns.
	Tell(via transport.Channel, to int, r *Record)
	// Ask returns a clock of a PE's detector, which has seen the records of all effects that this PE has seen. It
	// returns nil if the detector has none, and the cause of ctx's end or *transport.PeerError.
	Ask(ctx context.Context, to int, q Question) (*Clock, error)
	// Flush takes to their detectors what Tell has kept, before a quiet of via for one PE, or for all if to < 0.
	Flush(via transport.Channel, to int)
}
