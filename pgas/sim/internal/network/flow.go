package network

// Flows: the order of the operations of one channel on one PE, with an adversary. Fences divide them into
// epochs: an operation takes effect when all of earlier epochs have. Operations on the same bytes take effect
// in the order of their issue even without a fence, and so do notes. Gets without a note ignore
// fences, but find earlier writes to their bytes. No operation waits for a get.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
)

// ordered reports whether fences order o.
func (o *Op) ordered() bool { return o.kind != opGet || o.notifies }

// add gives o, which is issued, its place in the flow.
func (f *flow) add(o *Op) {
	f.orderBehind(o)
	if !o.ordered() {
		return
	}
	o.epoch = f.epoch
	for len(f.perEpoch) <= int(f.epoch-f.oldestEpoch) {
		f.perEpoch = append(f.perEpoch, 0)
	}
	f.perEpoch[f.epoch-f.oldestEpoch]++
	f.unapplied = append(f.unapplied, o)
}

// orderBehind makes o wait for earlier operations on its bytes. If one of these covers o, those before that one need
// not be recorded: they precede o through it.
func (f *flow) orderBehind(o *Op) {
	for _, other := range slices.Backward(f.unapplied) {
		if other.precedes(o) {
			o.predecessors++
			other.successors = append(other.successors, o)
			if other.covers(o) {
				return
			}
		}
	}
}

// fence begins a new epoch, unless the current one is empty.
func (f *flow) fence() {
	if n := int(f.epoch - f.oldestEpoch); n < len(f.perEpoch) && f.perEpoch[n] > 0 {
		f.epoch++
	}
}

// mustWait reports whether other operations must take effect before o.
func (f *flow) mustWait(o *Op) bool {
	return o.predecessors > 0 || o.ordered() && o.epoch != f.oldestEpoch
}

// hold keeps o, which must wait, until it need not.
func (f *flow) hold(o *Op) {
	if o.ordered() && o.epoch != f.oldestEpoch {
		f.laterEpochs = append(f.laterEpochs, o)
	} else {
		o.blocked = true
	}
}

// markApplied records that o has taken effect, and schedules operations that waited for it.
func (f *flow) markApplied(net *Network, o *Op) {
	if !o.ordered() {
		return
	}
	i := slices.Index(f.unapplied, o)
	f.unapplied = slices.Delete(f.unapplied, i, i+1)
	for _, follower := range o.successors {
		follower.predecessors--
		if follower.blocked && follower.predecessors == 0 {
			follower.blocked = false
			net.Engine.Schedule(net.Engine.Now(), &follower.Event)
		}
	}
	clear(o.successors)
	o.successors = o.successors[:0]
	f.perEpoch[o.epoch-f.oldestEpoch]--
	for f.oldestEpoch < f.epoch && f.perEpoch[0] == 0 {
		f.perEpoch = f.perEpoch[1:]
		f.oldestEpoch++
	}
	parked := f.laterEpochs
	f.laterEpochs = nil
	for _, o := range parked {
		if f.mustWait(o) {
			f.hold(o)
		} else {
			net.Engine.Schedule(net.Engine.Now(), &o.Event)
		}
	}
}

// precedes reports whether o, which was issued before other, must take effect first: o writes bytes that other
// reads or writes, or both leave a note.
func (o *Op) precedes(other *Op) bool {
	if o.notifies && other.notifies {
		return true
	}
	for _, a := range o.writes() {
		for _, b := range other.touches() {
			if a[0] < b[1] && b[0] < a[1] {
				return true
			}
		}
	}
	return false
}

// covers reports whether everything that precedes other also precedes o.
func (o *Op) covers(other *Op) bool {
	if other.notifies && !o.notifies {
		return false
	}
	for _, b := range other.touches() {
		inside := b[0] == b[1]
		for _, a := range o.writes() {
			inside = inside || a[0] <= b[0] && b[1] <= a[1]
		}
		if !inside {
			return false
		}
	}
	return true
}

// byteRanges are two ranges of a heap, each from its first byte to the one after its last.
type byteRanges [2][2]uint64

// writes returns the bytes that o writes.
func (o *Op) writes() (s byteRanges) {
	switch o.kind {
	case opAtomic:
		s[0] = [2]uint64{o.off, o.off + uint64(o.bytes)}
	case opPut:
		s[0] = [2]uint64{o.off, o.off + uint64(len(o.data))}
		if o.signal {
			s[1] = [2]uint64{o.sig, o.sig + 8}
		}
	}
	return s
}

// touches returns the bytes that o reads or writes.
func (o *Op) touches() byteRanges {
	if o.kind == opGet {
		return byteRanges{{o.off, o.off + uint64(o.size)}}
	}
	return o.writes()
}

// opCompleted records that a posted operation is complete, and resumes tasks that wait for that. It returns the
// task that goes on now, if any.
func (f *flow) opCompleted(net *Network) *engine.Task {
	c := f.ch
	f.pendingOps--
	c.pendingOps--
	for i := 0; i < len(c.quietWaits); i++ {
		if q := c.quietWaits[i]; c.pending(q.f) == 0 {
			c.quietWaits = append(c.quietWaits[:i], c.quietWaits[i+1:]...)
			i--
			net.Engine.ResumeBusy(q.t, Quieted)
		}
	}
	return nil
}

func (c *channel) pending(f *flow) int {
	if f != nil {
		return f.pendingOps
	}
	return c.pendingOps
}

// afterEarlierNotes returns when o takes effect: not before the notes of earlier operations, if o has a note.
func (o *Op) afterEarlierNotes(when int64) int64 {
	if o.notifies {
		when = max(when, o.flow.lastNote)
		o.flow.lastNote = when
	}
	return when
}
