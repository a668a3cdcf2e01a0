package pgastest

// The late network with a seed: what the ordering rules leave open is drawn for each operation, when it is issued. Then
// an operation arrives at its call, when its context has issued some more, or as late as without a seed, and those that
// may arrive at the same time do so in any order. The source of a put that does not wait is read at the call or when
// the data arrives. A get that does not wait is filled at the call, or by the quiet before or after the puts that the
// quiet completes; the value of an AtomicNB when the atomic is applied, or by the quiet. What is held for a target that
// does not wait is held for some milliseconds, or not.
//
// With earlySeed sources are read, gets are read and filled, and goroutines begin at the call, whenever the rules allow
// that.
//
// Each context draws for itself, in the order of its operations. So a program whose contexts issue the same operations
// draws the same with the same seed, whatever the goroutines of its PEs do meanwhile.

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A lateMoment is when an operation arrives, as far as that is open.
type lateMoment struct {
	rank  uint64 // of those that may arrive, the one of the highest rank does
	after uint64 // it may arrive as soon as its channel has issued so many operations
	// how often the network's patience is had with a target that does not wait; 0 of a get: a quiet fills it first
	patience int
}

// lateDraws are the draws of one channel. Nil ones draw that all is as late as it may be.
type lateDraws struct {
	random *rand.Rand
	early  bool // sources are read, and gets are read and filled, at the call
}

// newLateDraws returns the draws of a channel of a PE, or nil if seed is 0.
func newLateDraws(seed uint64, pe int, channel uint64) *lateDraws {
	if seed == 0 {
		return nil
	}
	return &lateDraws{rand.New(rand.NewPCG(seed, uint64(pe)<<32|channel)), seed == earlySeed}
}

// lateMoments are how many more operations of its context an operation is held for. Each is as likely as the others.
var lateMoments = [...]uint64{0, 0, 1, 2, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}

// latePatiences are the patiences of operations. Each is as likely as the others. With the last one a third PE sees an
// operation and not another one for long enough to act on it.
var latePatiences = [...]int{0, 1, 3}

// moment draws the moment of the operation with the given number, which has a result or not. Its channel has issued so
// many.
func (d *lateDraws) moment(number, issued uint64, returns bool) lateMoment {
	if d == nil {
		return lateMoment{rank: number, after: math.MaxUint64, patience: 1}
	}
	m := lateMoment{
		rank:     d.random.Uint64(),
		after:    lateMoments[d.random.IntN(len(lateMoments))],
		patience: latePatiences[d.random.IntN(len(latePatiences))],
	}
	switch {
	case d.early && returns:
		m.after = 0
	case m.after != math.MaxUint64:
		m.after += issued
	}
	return m
}

// earlySeed is the seed with which sources are read, and gets are read and filled, at the call.
const earlySeed = 1

// firstFill returns the index of the fill that is first among those that wanted selects: the newest one without a seed,
// and any with one. It returns -1 if there is none.
func (d *lateDraws) firstFill(fills []lateFill, wanted func(lateFill) bool) int {
	var all []int
	for i, f := range slices.Backward(fills) {
		if !wanted(f) {
			continue
		}
		if d == nil {
			return i
		}
		all = append(all, i)
	}
	if len(all) == 0 {
		return -1
	}
	return all[d.random.IntN(len(all))]
}

// fill stores the results that wanted selects, in any order, and returns the others.
func (d *lateDraws) fill(list []lateFill, wanted func(lateFill) bool) []lateFill {
	for i := d.firstFill(list, wanted); i >= 0; i = d.firstFill(list, wanted) {
		list[i].fill()
		list = slices.Delete(list, i, i+1)
	}
	return list
}

// atOnce draws whether a source is read, or a result stored, before it must be.
func (d *lateDraws) atOnce() bool { return d != nil && (d.early || d.random.IntN(2) == 0) }

// deliverDrawn delivers the operations of this channel that are drawn to arrive now, and fills such gets.
func (c *lateChannel) deliverDrawn() {
	if c.draws == nil {
		return
	}
	c.fillGets(func(f lateFill) bool { return f.get.moment.after <= c.issued })
	for c.net.deliverOne(func(op *lateOp) bool { return op.from == c && op.moment.after <= c.issued }) {
	}
}
