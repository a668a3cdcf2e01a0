package carry

// Items on their way between members: a ring of items in each member's memory for each other member, so that a sender
// needs nobody's leave to put a batch of items, and a receiver reads what has come in its own memory.
//
// A sender gathers items for a target in a batch, which is half a ring, puts the batch into its ring at the target, and
// with the last byte the signal that says how many items it has put there in all. The receiver says by a signal in the
// other direction how many it has taken in all, once for every half ring. So a batch costs one message, and a quarter
// to one more for the answer; no member waits while its rings have room; and the memory is fixed.
//
// Both counts start anywhere and may wrap: only differences matter. The lowest bit of the sender's signal is the parity
// of its epoch. A member may be one epoch ahead of another, never two, for an epoch ends when all have ended it. What a
// member finds of the epoch after its own it leaves in the ring.

import (
	"math/bits"

	"github.com/gopgas/gopgas/pgas"
)

// itemCount wraps as the count in a signal does, which leaves a bit to the parity. The size of a ring divides it plus
// one.
const itemCount = 1<<63 - 1

// Rings is one ring for each pair of members, as one member sees them.
type Rings[T any] struct {
	m     *Members
	f     *Flow
	first int           // f's first signal of these rings: N of them count what was put, N more what was taken
	size  int           // the number of items that a ring has room for, a power of two
	place int           // where the inbox is in the memory
	start uint64        // the number of the first item
	inbox pgas.Slice[T] // the rings of this member: sender s has the one from s*size on
	out   []outgoing[T]
	in    []incoming
	epoch uint64
}

// outgoing is the items for one target.
type outgoing[T any] struct {
	staged []T    // the batch: items that are not put yet
	sent   uint64 // the number of the next item to put
}

// incoming is the items of one sender.
type incoming struct {
	taken uint64 // the number of the next item to take
	told  uint64 // what the sender knows of taken
}

// RingSignals is the number of signals that rings of n members take of a flow.
func RingSignals(n int) int { return 2 * n }

// NewRings reserves rings of bytes bytes for each pair of members; 0 is a default. Its signals are those of f from
// first on. The first item of each ring has the number start.
func NewRings[T any](mem *Memory, f *Flow, first, bytes int, start uint64) *Rings[T] {
	size := ringSize[T](mem.Members.N, bytes)
	return &Rings[T]{m: mem.Members, f: f, first: first, size: size, place: Reserve[T](mem, mem.Members.N*size), start: start}
}

// Bind sets all counts to where they start. f is bound.
func (r *Rings[T]) Bind(mem *Memory) {
	n := r.m.N
	r.inbox = Piece[T](mem, r.place, n*r.size)
	r.out, r.in = make([]outgoing[T], n), make([]incoming, n)
	for pe := range n {
		r.out[pe].sent, r.in[pe] = r.start, incoming{r.start, r.start}
		r.f.signals.At(r.first+pe).Set(r.m.Me, r.start<<1)
		r.f.signals.At(r.first+n+pe).Set(r.m.Me, r.start)
	}
}

const (
	defaultRing  = 32 << 10 // the bytes of a ring
	defaultRings = 8 << 20  // the bytes of all rings of a member, unless leastItems of each take more
	leastItems   = 16
)

// ringSize returns the items of a ring: the largest power of two that fits the bytes.
func ringSize[T any](n, bytes int) int {
	if bytes == 0 {
		bytes = min(defaultRing, defaultRings/max(n, 1))
	}
	items := max(leastItems, bytes/max(SizeOf[T](), 1))
	return 1 << (bits.Len(uint(items)) - 1)
}

// Stage adds an item for target pe to its batch, and reports whether the batch is full.
func (r *Rings[T]) Stage(pe int, v T) (full bool) {
	out := &r.out[pe]
	if out.staged == nil {
		out.staged = make([]T, 0, r.size/2)
	}
	out.staged = append(out.staged, v)
	return len(out.staged) >= r.size/2
}

// Batch returns the number of items of a full batch.
func (r *Rings[T]) Batch() int { return r.size / 2 }

// Full reports whether the batch for target pe is full.
func (r *Rings[T]) Full(pe int) bool { return r.Excess(pe) >= 0 }

// Excess returns how many more items than a batch are staged for target pe; it is negative if there are fewer.
func (r *Rings[T]) Excess(pe int) int { return len(r.out[pe].staged) - r.Batch() }

// Staged returns how many items have been staged for all targets, those that have been put included.
func (r *Rings[T]) Staged() (n uint64) {
	for pe := range r.out {
		n += (r.out[pe].sent-r.start)&itemCount + uint64(len(r.out[pe].staged))
	}
	return n
}

// Room returns how many more items fit the ring at target pe now.
func (r *Rings[T]) Room(pe int) int {
	out := &r.out[pe]
	taken := r.f.lookAt(r.first + r.m.N + pe)
	return r.size - int((out.sent-taken)&itemCount)
}

// Push puts as many of the staged items for target pe as its ring has room for, and reports whether it has put any.
// They are complete at pe when its signal says so.
func (r *Rings[T]) Push(pe int) bool {
	out := &r.out[pe]
	n := min(len(out.staged), r.Room(pe))
	if n == 0 {
		return false
	}
	for rest := out.staged[:n]; len(rest) > 0; {
		at := r.at(out.sent)
		k := min(len(rest), r.size-at)
		out.sent = (out.sent + uint64(k)) & itemCount
		mine := r.m.Me * r.size
		r.inbox.Range(mine+at, mine+at+k).PutSignal(pe, rest[:k], r.f.signals.At(r.first+r.m.Me), out.sent<<1|r.epoch&1)
		rest = rest[k:]
	}
	out.staged = out.staged[:copy(out.staged, out.staged[n:])]
	return true
}

// at returns the place in a ring of item i.
func (r *Rings[T]) at(i uint64) int { return int(i % uint64(r.size)) }

// PushAll pushes to all members. It reports whether it has put any, and whether nothing is left to put.
func (r *Rings[T]) PushAll() (some, all bool) {
	all = true
	for pe := range r.m.N {
		if len(r.out[pe].staged) > 0 {
			some = r.Push(pe) || some
			all = all && len(r.out[pe].staged) == 0
		}
	}
	return some, all
}

// Arrived returns items of sender pe that this member saw when it last looked, of this epoch, in the order in which
// they were sent; perhaps not all. They are valid until they are taken.
func (r *Rings[T]) Arrived(pe int) []T {
	put := r.f.seen[r.first+pe]
	n := int((put>>1 - r.in[pe].taken) & itemCount)
	if n == 0 || put&1 != r.epoch&1 {
		return nil
	}
	at := r.at(r.in[pe].taken)
	mine := pe * r.size
	return r.inbox.Local()[mine+at : mine+min(at+n, r.size)]
}

// EndEpoch ends the epoch of this member: what it puts from now on is of the next one, and so is what it finds.
func (r *Rings[T]) EndEpoch() { r.epoch++ }

// Take gives the places of n items that have arrived back to their sender pe, and tells it if that is half a ring.
func (r *Rings[T]) Take(pe, n int) {
	in := &r.in[pe]
	in.taken = (in.taken + uint64(n)) & itemCount
	if (in.taken-in.told)&itemCount >= uint64(r.size/2) {
		r.tell(pe)
	}
}

// tell tells sender pe how many of its items have been taken, if it does not know.
func (r *Rings[T]) tell(pe int) {
	if in := &r.in[pe]; in.told != in.taken {
		in.told = in.taken
		r.f.signals.At(r.first+r.m.N+r.m.Me).Set(pe, in.told)
	}
}

// TellAll tells every sender what has been taken of its items.
func (r *Rings[T]) TellAll() {
	for pe := range r.m.N {
		r.tell(pe)
	}
}

// UnderWay returns the number of items that are staged or that no target has said to have taken.
func (r *Rings[T]) UnderWay() (n int) {
	for pe := range r.m.N {
		n += len(r.out[pe].staged) + r.size - r.Room(pe)
	}
	return n
}
