package sim

// The order of what a channel has under way to one PE, where things are out of order. Fences cut it into
// epochs: an operation takes effect when all of earlier epochs have. Operations on the same bytes take effect
// in the order of their issue even without a fence, and notes are left in it. Gets that leave no note ignore
// fences, but find earlier writes to their bytes; no operation waits for them.

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
	held      bool  // it has arrived, and waits for operations before it
	after     int   // how many operations on the same bytes must come first
	followers []*op // those that wait for this one
}

// ordered says that fences order o.
func (o *op) ordered() bool { return o.kind != opGet || o.leaves }

// enter gives o, which is issued, its place.
func (f *flow) enter(o *op) {
	f.follow(o)
	if !o.ordered() {
		return
	}
	o.epoch = f.epoch
	for len(f.open) <= int(f.epoch-f.applied) {
		f.open = append(f.open, 0)
	}
	f.open[f.epoch-f.applied]++
	f.live = append(f.live, o)
}

// follow puts o behind earlier operations on its bytes. If one of these covers o, those before that one need
// not be recorded: they precede o through it.
func (f *flow) follow(o *op) {
	for _, other := range slices.Backward(f.live) {
		if other.precedes(o) {
			o.after++
			other.followers = append(other.followers, o)
			if other.covers(o) {
				return
			}
		}
	}
}

// fence begins a new epoch, if there is anything that it must come after.
func (f *flow) fence() {
	if n := int(f.epoch - f.applied); n < len(f.open) && f.open[n] > 0 {
		f.epoch++
	}
}

// early says that others must take effect before o.
func (f *flow) early(o *op) bool {
	return o.after > 0 || o.ordered() && o.epoch != f.applied
}

// hold keeps o, which is early, until it is not.
func (f *flow) hold(o *op) {
	if o.ordered() && o.epoch != f.applied {
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
		follower.after--
		if follower.held && follower.after == 0 {
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

// precedes reports whether o, which was issued before other, must take effect first: o writes bytes that other
// reads or writes, or both leave a note.
func (o *op) precedes(other *op) bool {
	if o.leaves && other.leaves {
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
func (o *op) covers(other *op) bool {
	if other.leaves && !o.leaves {
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

// spans are bytes of a heap: from, and up to.
type spans [2][2]uint64

// writes returns the bytes that o writes.
func (o *op) writes() (s spans) {
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
func (o *op) touches() spans {
	if o.kind == opGet {
		return spans{{o.off, o.off + uint64(o.size)}}
	}
	return o.writes()
}
