package sim

// Moves. One choice of an exploration is a move: an operation takes effect or a wait ends,
// and the task that was waiting runs on to its next operation. The footprint of a move is what it has read
// and written. Two moves are independent if both orders lead to the same state. Only
// the order of dependent moves matters.
//
// The simulator sees only part of what a task does between two operations: the words that its World reads for it
// (AboutToRead), and what the body reports itself (Shares).

import (
	"math"
	"slices"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// A proc is a process of the search, which makes moves one after another: a task, a non-blocking operation, or a
// call. Its number is the same in every run in which its PE has done the same before.
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

// procOf returns the process of t.
func procOf(t *engine.Task) proc { return proc{int32(t.PE().ID), procTask, t.Number()} }

// proc returns the process that makes the move of c.
func (c choice) proc() proc {
	if c.t != nil {
		return procOf(c.t)
	}
	if call := engine.CallOf(c.event); call != nil {
		return proc{int32(call.PE.ID), procCall, call.Serial}
	}
	o := opOf(c.event)
	if t := o.Task(); t != nil {
		return procOf(t)
	}
	return proc{o.origin, procOp, o.serial}
}

// A span is a range of a PE's heap that was read or written.
type span struct {
	lo, hi uint64
	pe     int32
	write  bool
}

// wholeHeap is the end of a span of the whole heap.
const wholeHeap = math.MaxUint64

// A move is what a process has done in one step.
type move struct {
	proc       proc
	global     bool   // it depends on everything: a PE dies
	shares     bool   // it uses what Shares reports
	quietEnded bool   // a quiet has ended
	flow       uint64 // of the operation, if fences order it
	epoch      uint32 // in that flow
	spans      []span
	created    []proc // processes that it has created
}

func (m *move) begin(p proc) { *m = move{proc: p, spans: m.spans[:0], created: m.created[:0]} }

func (m *move) clone() *move {
	c := *m
	c.spans, c.created = slices.Clone(m.spans), slices.Clone(m.created)
	return &c
}

// touch adds a span.
func (m *move) touch(p *engine.PE, write bool, lo, hi uint64) {
	s := span{lo, hi, int32(p.ID), write}
	for _, t := range p.Waiting() {
		// A wait for many words takes the first one that it finds changed.
		if lo, hi := t.Words(); write && hi-lo > 8 && lo < s.hi && s.lo < hi {
			s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
		}
	}
	if !slices.Contains(m.spans, s) {
		m.spans = append(m.spans, s)
	}
}

// depends reports whether the order of a and b may matter.
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

// samePE reports whether moves of one PE depend on each other. All do, except those of operations under way, which
// only matter to a quiet.
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

// footprint records what o is going to read and write.
func (x *explorer) footprint(s *sim, o *op) {
	m, to := &x.move, &o.to.PE
	m.global = o.to.dead || o.from.dead
	if f := o.flow; f != nil && o.ordered() {
		m.flow, m.epoch = f.id(), o.epoch
	}
	switch {
	case o.phase == signalling:
		m.touch(to, true, o.sig, o.sig+8)
	case o.phase == notifying:
		m.touch(to, true, boot.NoteQueueOff, shm.NoteQueueEnd)
	case o.kind == opPut:
		m.touch(to, true, o.off, o.off+uint64(len(o.data)))
	case o.kind == opGet:
		m.touch(to, false, o.off, o.off+uint64(o.size))
	case o.nic && s.cfg.Atomics == Split: // it locks the word
		m.touch(to, true, o.off&^7, o.off&^7+8)
	default:
		v := word(o.to.heap, o.off, o.bytes)
		changes := changedWord(o.atomicOp, o.bytes, v, o.operand, o.cond) != v
		m.touch(to, changes, o.off, o.off+uint64(o.bytes))
	}
	if lo, hi, own := o.from.heapRange(o.dst); own {
		m.touch(&o.from.PE, true, lo, hi)
	}
}

// id returns a number that identifies f.
func (f *flow) id() uint64 {
	return uint64(f.ch.pe.ID)<<48 | uint64(f.ch.serial)<<24 | uint64(f.to.ID)
}

// waitEnded records that t, whose wait has ended, reads the words that it has waited for.
func (x *explorer) waitEnded(t *engine.Task, why engine.Reason) {
	lo, hi := t.Words()
	switch {
	case why == reasonQuiet:
		x.move.quietEnded = true
	case why < engine.Waited:
	case lo < boot.ReservedBytes:
		x.ReadsHeap(t.PE())
	default:
		x.reads(t.PE(), lo, hi)
	}
}

// reads records that p reads its own heap in the step under way.
func (x *explorer) reads(p *engine.PE, lo, hi uint64) {
	if x.s.cfg.Reduce {
		h := &x.histories[p.ID]
		h.digest = engine.Mix(h.digest + x.bytes(x.heap(p)[lo:hi]))
		x.move.touch(p, false, lo, hi)
	}
}

// opIssued records that the initiator of o uses words of the runtime, and so memory that only the runtime knows.
func (x *explorer) opIssued(o *op) {
	if o.off < boot.ReservedBytes {
		x.ReadsHeap(&o.from.PE)
	}
}

// WaitBegins implements engine.Order.
func (x *explorer) WaitBegins(p *engine.PE, lo, hi uint64) {
	if hi > 0 && lo < boot.ReservedBytes {
		x.ReadsHeap(p)
	}
}

// WaitEnds implements engine.Order. A move of another PE ends a wait of t only if it has ended the wait's context.
func (x *explorer) WaitEnds(t *engine.Task) {
	if x.move.proc.pe != int32(t.PE().ID) {
		x.move.global = true
	}
}

// touchesOwnHeap records that an operation of c copies from or to b, if that is in the initiator's own heap.
func (c *channel) touchesOwnHeap(b []byte, write bool) {
	if !c.pe.s.reducing() {
		return
	}
	if lo, hi, own := c.pe.heapRange(b); own && write {
		c.pe.s.explorer.move.touch(&c.pe.PE, true, lo, hi)
	} else if own {
		c.pe.s.explorer.reads(&c.pe.PE, lo, hi)
	}
}
