package network

// The pool of operations, and what an operation does to memory.

import (
	"encoding/binary"

	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// record records a step of o.
func (net *Network) record(w stepKind, o *Op) {
	e := net.trace.next()
	*e = step{net.Engine.Now(), w, o.kind, o.atomicOp, o.origin, o.target, o.id, o.off, o.bytesMoved(), o.operand, o.cond, o.old}
	if o.signal && w != effectStep {
		e.off = o.sig
	}
	if net.trace.out != nil {
		net.trace.print(e)
	}
}

// bytesMoved returns how much data o moves.
func (o *Op) bytesMoved() int {
	if o.kind == opGet {
		return o.size
	}
	return len(o.data)
}

// opBatch is how many operations are allocated at once.
const opBatch = 64

// maxKeptData is the largest buffer that is kept for another operation.
const maxKeptData = 4096

// newOp returns an operation of kind k. Its other fields are zero or not used by the kind.
func (net *Network) newOp(k kind) *Op {
	if n := len(net.freeOps); n > 0 {
		o := net.freeOps[n-1]
		net.freeOps = net.freeOps[:n-1]
		o.kind = k
		return o
	}
	more := make([]Op, opBatch)
	for i := range more[1:] {
		net.freeOps = append(net.freeOps, &more[1+i])
	}
	more[0].kind = k
	return &more[0]
}

// release returns o, which is complete, to the pool.
func (net *Network) release(o *Op) {
	// the most frequent: its other fields were not used
	if o.kind == opAtomic && o.Task() != nil && !o.notifies && !net.unordered() {
		o.phase = arriving
		o.ClearTask()
		net.freeOps = append(net.freeOps, o)
		return
	}
	data := o.data[:0]
	if cap(data) > maxKeptData {
		data = nil
	}
	*o = Op{data: data, order: order{successors: o.successors[:0]}}
	net.freeOps = append(net.freeOps, o)
}

// applyAtomic applies o to its word and returns the old value.
func (net *Network) applyAtomic(o *Op) uint64 {
	old := word(o.to.heap, o.off, o.bytes)
	v := changedWord(o.atomicOp, o.bytes, old, o.operand, o.cond)
	net.store(o.to, o.off, o.bytes, old, v)
	return old
}

// store changes a word from old to v.
func (net *Network) store(p *PE, off uint64, bytes uint8, old, v uint64) {
	if v == old {
		return
	}
	if bytes == 4 {
		binary.NativeEndian.PutUint32(p.heap[off:], uint32(v))
	} else {
		binary.NativeEndian.PutUint64(p.heap[off:], v)
	}
	if net.exploring() {
		net.observer.WroteWord(p, off, v)
	}
	net.notifyWaiters(p, off, off+uint64(bytes))
}

func word(heap []byte, off uint64, bytes uint8) uint64 {
	if bytes == 4 {
		return uint64(binary.NativeEndian.Uint32(heap[off:]))
	}
	return binary.NativeEndian.Uint64(heap[off:])
}

// changedWord returns the value of a word after an atomic, as package shm computes it.
func changedWord(rmw transport.Op, bytes uint8, old, operand, cond uint64) uint64 {
	if bytes == 4 {
		v := uint32(old)
		shm.Apply32(&v, rmw, uint32(operand), uint32(cond))
		return uint64(v)
	}
	v := old
	shm.Apply64(&v, rmw, operand, cond)
	return v
}

func (net *Network) applySignal(o *Op) {
	old := word(o.to.heap, o.sig, 8)
	v := changedWord(o.atomicOp, 8, old, o.operand, 0)
	net.record(signalStep, o)
	net.store(o.to, o.sig, 8, old, v)
}

// notifyWaiters evaluates the conditions of tasks of p that read the changed bytes from lo to hi.
func (net *Network) notifyWaiters(p *PE, lo, hi uint64) {
	if len(p.Waiting()) > 0 {
		p.RecheckRange(lo, hi)
	}
}

// storeResult writes the result of o to o.dst.
func storeResult(o *Op) {
	switch {
	case o.kind == opGet:
		copy(o.dst, o.data)
	case o.bytes == 4:
		binary.NativeEndian.PutUint32(o.dst, uint32(o.old))
	default:
		binary.NativeEndian.PutUint64(o.dst, o.old)
	}
}

// readSource reads the source of o, if it has not been read.
func (o *Op) readSource() {
	if l := o.late; l != nil && l.source != nil {
		copy(o.data, l.source)
		l.source = nil
	}
}
