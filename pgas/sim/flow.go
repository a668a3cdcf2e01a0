package sim

// The order of what a channel has under way to one PE, where things are out of order. Fences cut it into
// epochs: an operation takes effect when all of earlier epochs have. Operations on the same bytes take effect
// in the order of their issue even without a fence: that is not promised to programs, but demanded of
// transports. So is the order of notes. Gets that leave none are in no order at all.

import "slices"

// A flow is what a channel has under way to one PE.
type flow struct {
	ch     *channel
	to     *pe
	posted int   // operations that nobody waits for
	since  int64 // when the last of those that are through was known to be
	noted  int64 // when the last note was left
	// Where things are out of order:
	epoch   uint32   // of the next operation
	applied uint32   // all before this one have taken effect
	open    []uint32 // operations of applied, applied+1, … that have not
	live    []*op    // the same operations, in the order of their issue
	parked  []*op    // those of later epochs that have arrived
}

// order is an operation's place in its flow.
type order struct {
	epoch     uint32
	held      bool  // it has arrived, and waits for after
	after     *op   // an operation on the same bytes that must come first, or nil
	followers []*op // those that wait for this one
}

// ordered says that fences order o.
func (o *op) ordered() bool { return o.kind != opGet || o.leaves }

// enter gives o, which is issued, its place.
func (f *flow) enter(o *op) {
	if !o.ordered() {
		return
	}
	o.epoch = f.epoch
	for len(f.open) <= int(f.epoch-f.applied) {
		f.open = append(f.open, 0)
	}
	f.open[f.epoch-f.applied]++
	for _, other := range slices.Backward(f.live) {
		if other.overlaps(o) {
			o.after = other
			other.followers = append(other.followers, o)
			break
		}
	}
	f.live = append(f.live, o)
}

// fence begins a new epoch, if there is anything that it must come after.
func (f *flow) fence() {
	if n := int(f.epoch - f.applied); n < len(f.open) && f.open[n] > 0 {
		f.epoch++
	}
}

// early says that others must take effect before o.
func (f *flow) early(o *op) bool {
	return o.ordered() && (o.epoch != f.applied || o.after != nil)
}

// hold keeps o, which is early, until it is not.
func (f *flow) hold(o *op) {
	if o.epoch != f.applied {
		f.parked = append(f.parked, o)
	} else {
		o.held = true
	}
}

// took notes that o has taken effect, and lets those go on that waited for it.
func (f *flow) took(s *sim, o *op) {
	if !o.ordered() {
		return
	}
	i := slices.Index(f.live, o)
	f.live = slices.Delete(f.live, i, i+1)
	for _, follower := range o.followers {
		follower.after = nil
		if follower.held {
			follower.held = false
			s.at(s.now, follower)
		}
	}
	clear(o.followers)
	o.followers = o.followers[:0]
	f.open[o.epoch-f.applied]--
	for f.applied < f.epoch && f.open[0] == 0 {
		f.open = f.open[1:]
		f.applied++
	}
	parked := f.parked
	f.parked = nil
	for _, o := range parked {
		if f.early(o) {
			f.hold(o)
		} else {
			s.at(s.now, o)
		}
	}
}

// overlaps says that o and other write the same bytes, or that both leave a note.
func (o *op) overlaps(other *op) bool {
	if o.leaves && other.leaves {
		return true
	}
	for _, a := range o.spans() {
		for _, b := range other.spans() {
			if a[0] < b[1] && b[0] < a[1] {
				return true
			}
		}
	}
	return false
}

// spans are the bytes that o writes: from, and up to.
func (o *op) spans() (s [2][2]uint64) {
	if o.kind == opAtomic {
		s[0] = [2]uint64{o.off, o.off + uint64(o.bytes)}
		return s
	}
	s[0] = [2]uint64{o.off, o.off + uint64(len(o.data))}
	if o.signal {
		s[1] = [2]uint64{o.sig, o.sig + 8}
	}
	return s
}
