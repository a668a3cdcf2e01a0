package sim

// Moves. What happens by one choice of an exploration is a move: an operation takes effect or a wait ends,
// and the task that was waiting runs on to its next operation. A move leaves a footprint: what it has read
// and written. Two moves that leave the same behind in either order do not depend on each other, and only
// the order of those that do matters.
//
// What a task does between two operations is seen in part: the words that its World looks at for it are
// (looks), and what it does besides the body tells (Shares).

import (
	"math"
	"slices"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// A proc is what makes moves, one after another: a task, an operation that nobody waits for, or a call. Its
// number is the same in every run in which its PE has done the same before.
type proc struct {
	pe   int32
	kind procKind
	n    int32
}

type procKind uint8

const (
	procTask procKind = iota
	procOp
	procCall
)

func (t *task) proc() proc { return proc{int32(t.pe.id), procTask, t.number} }

func (o *op) proc() proc {
	switch {
	case o.task != nil:
		return o.task.proc()
	case o.kind == opCall:
		return proc{int32(o.from.id), procCall, o.serial}
	}
	return proc{int32(o.from.id), procOp, o.serial}
}

func (c choice) proc() proc {
	if c.t != nil {
		return c.t.proc()
	}
	return c.o.proc()
}

// A span is bytes of a PE's heap that were read, or written.
type span struct {
	lo, hi uint64
	pe     int32
	write  bool
}

// wholeHeap is the end of a span of everything.
const wholeHeap = math.MaxUint64

// A move is what a proc has done at once.
type move struct {
	proc       proc
	global     bool   // it depends on everything: a PE dies
	shares     bool   // it uses what PEs share besides
	quietEnded bool   // a wait has ended for what the PE had under way
	flow       uint64 // of the operation, if fences order it
	epoch      uint32 // in the flow
	spans      []span
	created    []proc // that it has made
}

func (m *move) begin(who proc) { *m = move{proc: who, spans: m.spans[:0], created: m.created[:0]} }

func (m *move) clone() *move {
	c := *m
	c.spans, c.created = slices.Clone(m.spans), slices.Clone(m.created)
	return &c
}

// touch adds a span.
func (m *move) touch(p *pe, write bool, lo, hi uint64) {
	s := span{lo, hi, int32(p.id), write}
	for _, t := range p.waiting {
		// A wait for many words takes what it finds first.
		if w := &t.wait; write && w.hi-w.lo > 8 && w.lo < s.hi && s.lo < w.hi {
			s.lo, s.hi = min(s.lo, w.lo), max(s.hi, w.hi)
		}
	}
	if !slices.Contains(m.spans, s) {
		m.spans = append(m.spans, s)
	}
}

// depends says that a and b might do something else in the other order.
func (a *move) depends(b *move) bool {
	switch {
	case a.proc == b.proc || a.global || b.global || a.shares && b.shares:
		return true
	case a.flow != 0 && a.flow == b.flow && a.epoch != b.epoch:
		return true
	case a.proc.pe == b.proc.pe && a.samePE(b):
		return true
	}
	return conflict(a.spans, b.spans)
}

// samePE says that moves of one PE depend on each other: all do but those of operations under way, which
// only matter to who waits for them.
func (a *move) samePE(b *move) bool {
	return (a.proc.kind != procOp || b.quietEnded) && (b.proc.kind != procOp || a.quietEnded)
}

func conflict(a, b []span) bool {
	for i := range a {
		for j := range b {
			if a, b := &a[i], &b[j]; a.pe == b.pe && (a.write || b.write) && a.lo < b.hi && b.lo < a.hi {
				return true
			}
		}
	}
	return false
}

// footprint notes what o is going to do.
func (x *explorer) footprint(s *sim, o *op) {
	m := &x.move
	if o.kind == opCall {
		m.global = o.off == callDeath || o.off == callDeathKnown
		return
	}
	m.global = o.to.dead || o.from.dead
	if f := o.flow; f != nil && o.ordered() {
		m.flow, m.epoch = f.id(), o.epoch
	}
	switch {
	case o.phase == signalling:
		m.touch(o.to, true, o.sig, o.sig+8)
	case o.phase == notifying:
		m.touch(o.to, true, shm.RingOff, shm.RingEnd)
	case o.kind == opPut:
		m.touch(o.to, true, o.off, o.off+uint64(len(o.data)))
	case o.kind == opGet:
		m.touch(o.to, false, o.off, o.off+uint64(o.size))
	case o.nic && s.cfg.Atomics == Split: // which locks the word
		m.touch(o.to, true, o.off&^7, o.off&^7+8)
	default:
		v := word(o.to.heap, o.off, o.bytes)
		changes := changedWord(o.atomicOp, o.bytes, v, o.operand, o.cond) != v
		m.touch(o.to, changes, o.off, o.off+uint64(o.bytes))
	}
	if lo, hi, own := o.from.heapRange(o.dst); own {
		m.touch(o.from, true, lo, hi)
	}
}

// id is f's name.
func (f *flow) id() uint64 {
	return uint64(f.ch.pe.id)<<48 | uint64(f.ch.serial)<<24 | uint64(f.to.id)
}

// waitEnded notes what t has waited for, which it looks at again.
func (x *explorer) waitEnded(t *task, why uint64) {
	w := &t.wait
	switch {
	case why == reasonQuiet:
		x.move.quietEnded = true
	case why < reasonWait:
	case w.lo < boot.ReservedBytes:
		x.readsHeap(t.pe)
	default:
		x.reads(t.pe, w.lo, w.hi)
	}
}

// reads notes that p reads its own heap in the step under way.
func (x *explorer) reads(p *pe, lo, hi uint64) {
	if p.s.cfg.Reduce {
		h := &x.histories[p.id]
		h.digest = mix(h.digest + x.bytes(p.heap[lo:hi]))
		x.move.touch(p, false, lo, hi)
	}
}

// opIssued notes that o's PE deals with words of the runtime, and so with memory that only the runtime knows of.
func (x *explorer) opIssued(o *op) {
	if o.off < boot.ReservedBytes {
		x.readsHeap(o.from)
	}
}

// waitBegins is issued, of a wait.
func (x *explorer) waitBegins(p *pe, lo, hi uint64) {
	if hi > 0 && lo < boot.ReservedBytes {
		x.readsHeap(p)
	}
}

// waitEnds notes that a wait of t ends: by a move of another PE only if its context does.
func (x *explorer) waitEnds(t *task) {
	if x.move.proc.pe != int32(t.pe.id) {
		x.move.global = true
	}
}

// touchesOwnHeap notes that an operation of c copies from or to b, if that is in the PE's own heap.
func (c *channel) touchesOwnHeap(b []byte, write bool) {
	if !c.pe.s.reducing() {
		return
	}
	if lo, hi, own := c.pe.heapRange(b); own && write {
		c.pe.s.explorer.move.touch(c.pe, true, lo, hi)
	} else if own {
		c.pe.s.explorer.reads(c.pe, lo, hi)
	}
}
