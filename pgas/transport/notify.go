package transport

import "context"

// Stamp says who caused a note: the PE of the job that issued the access, and the tag that it gave it.
type Stamp uint64

// StampOf packs source and tag.
func StampOf(source int, tag uint32) Stamp { return Stamp(tag)<<32 | Stamp(uint32(source)) }

// Source is the PE of the job that issued the access.
func (s Stamp) Source() int { return int(uint32(s)) }

// Tag is what the access was given to be told by.
func (s Stamp) Tag() uint32 { return uint32(s >> 32) }

// Note is what a notified access leaves at the PE whose memory it was to.
type Note struct {
	Stamp
	Bytes uint64 // that the access moved
	Off   uint64 // where, in the heap of the PE that has the note
}

// Notifier is implemented by channels whose accesses can leave a note at their target. The note arrives
// when the access is over there: what was put is visible, what was got has been read and may be
// overwritten, an atomic has been applied. The notes of one channel to one PE arrive in the order in which
// they were issued. What a channel does without a note is in no order with notes, but for fences.
//
// Every PE keeps notes in a queue of bounded length. All methods report false, having done nothing, if
// there is no room for another note at the moment. The caller then empties its own queue, on which the
// other may be waiting, and tries again. Fence and Quiet are about notified accesses as about others, and
// what a quiet has completed has its note in the queue.
type Notifier interface {
	// PutNotify copies src to pe. src may be reused on return; it may be empty.
	PutNotify(pe int, dst uint64, src []byte, s Stamp) bool
	// PutNotifyNB is PutNotify whose src must not change until the loan is over, as Lender has it; without
	// Lender it is over on return.
	PutNotifyNB(pe int, dst uint64, src []byte, s Stamp) (loan uint64, ok bool)
	// GetNotify fills dst from pe.
	GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s Stamp) (bool, error)
	// GetNotifyNB fills dst from pe at some time before Quiet returns.
	GetNotifyNB(pe int, dst []byte, src uint64, s Stamp) bool
	// AtomicNotify applies op to the word of pe and returns the old value, zero-extended.
	AtomicNotify(ctx context.Context, pe int, op Op, at Word, operand, cond uint64, s Stamp) (old uint64, ok bool, err error)
	// PostNotify applies op to the word of pe and returns nothing.
	PostNotify(pe int, op Op, at Word, operand uint64, s Stamp) bool
}

// NoteLooker is implemented by schedulers that must know when a PE looks for notes.
type NoteLooker interface{ LooksForNotes() }

// Spiller is implemented by transports that keep notes for which there was no room where their PE looks
// for them.
type Spiller interface {
	// Refill moves such notes to where the PE looks, in order, as many as there is room for.
	Refill()
}
