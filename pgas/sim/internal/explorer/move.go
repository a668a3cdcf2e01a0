package explorer

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
	"github.com/gopgas/gopgas/pgas/sim/internal/network"
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
	o := network.OpOf(c.event)
	if t := o.Task(); t != nil {
		return procOf(t)
	}
	return proc{int32(o.From().ID), procOp, o.Serial}
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
	flow       uint64 // flow of the operation, if fences order it
	epoch      uint32 // epoch of the operation in its flow
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
func (x *Explorer) footprint(o *network.Op) {
	m := &x.move
	m.global = o.OfDead()
	m.flow, m.epoch = o.Epoch()
	x.net.Footprint(o, func(p *network.PE, write bool, lo, hi uint64) { m.touch(&p.PE, write, lo, hi) })
}

// waitEnded records that t, whose wait has ended, reads the words that it has waited for.
func (x *Explorer) waitEnded(t *engine.Task, why engine.Reason) {
	lo, hi := t.Words()
	switch {
	case why == network.Quieted:
		x.move.quietEnded = true
	case why < engine.Waited:
	case lo < boot.ReservedBytes:
		x.ReadsHeap(t.PE())
	default:
		x.reads(t.PE(), lo, hi)
	}
}

// reads records that p reads its own heap in the step under way.
func (x *Explorer) reads(p *engine.PE, lo, hi uint64) {
	if x.reduce {
		h := &x.histories[p.ID]
		h.digest = engine.Mix(h.digest + x.bytes(x.heap(p.ID)[lo:hi]))
		x.move.touch(p, false, lo, hi)
	}
}

// Issued implements network.Observer. An initiator of an operation on words of the runtime uses memory that only the
// runtime knows.
func (x *Explorer) Issued(o *network.Op) {
	if o.Task() == nil {
		x.histories[o.From().ID].readOnly = false
	}
	if o.InReserved() {
		x.ReadsHeap(&o.From().PE)
	}
}

// UsesHeap implements network.Observer.
func (x *Explorer) UsesHeap(p *network.PE, lo, hi uint64, write bool) {
	switch {
	case !x.reduce:
	case write:
		x.move.touch(&p.PE, true, lo, hi)
	default:
		x.reads(&p.PE, lo, hi)
	}
}

// WaitBegins implements engine.Order.
func (x *Explorer) WaitBegins(p *engine.PE, lo, hi uint64) {
	if hi > 0 && lo < boot.ReservedBytes {
		x.ReadsHeap(p)
	}
}

// WaitEnds implements engine.Order. A move of another PE ends a wait of t only if it has ended the wait's context.
func (x *Explorer) WaitEnds(t *engine.Task) {
	if x.move.proc.pe != int32(t.PE().ID) {
		x.move.global = true
	}
}
