package sim

// Operations under way. An op is a pooled object from its issue until it is complete on both sides. Events move it
// through its phases:
//
//	NIC   leave the initiator's NIC, arrive at the target's, take effect, and return with the result
//	CPU   take effect: the PEs of a host access each other's memory
//
// effect applies an operation to memory, in every mode of the simulator.

import (
	"encoding/binary"
	"slices"

	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

type kind uint8

const (
	opPut kind = iota
	opGet
	opAtomic
)

type phase uint8

const (
	arriving   phase = iota // it arrives at the target
	applying                // it takes effect
	writing                 // the NIC writes the new value of the word
	signalling              // the signal of a put takes effect
	notifying               // the note is delivered
	replying                // its reply arrives at the initiator
	completing              // the initiator's NIC has received the reply
)

// The fields that every event of an operation reads are in the first two lines of 64 bytes.
type op struct {
	engine.Event // its task waits for the reply
	kind         kind
	phase        phase
	nic          bool // executed by the NICs, not by the CPU
	signal       bool // a signal follows the put
	notifies     bool // a note follows
	atomicOp     transport.Op
	bytes        uint8 // size of the word
	origin       int32 // number of from
	target       int32 // number of to
	from         *pe
	to           *pe
	link         *Link  // the link between their NICs
	off          uint64 // offset of the data, or of the word

	flow    *flow
	operand uint64
	cond    uint64
	old     uint64 // the word before an atomic
	id      uint64 // number in the order of issue
	data    []byte // what a put carries, or the result of a get

	size int    // bytes of a get
	dst  []byte // where the result of a non-blocking operation goes
	sig  uint64 // offset of the word of the signal
	note note
	order
	serial int32 // number among its PE's non-blocking operations, in an exploration
}

// opBatch is how many ops are allocated at once.
const opBatch = 64

// maxKeptData is the largest buffer that is kept for another operation.
const maxKeptData = 4096

func (s *sim) newOp(k kind) *op {
	if n := len(s.freeOps); n > 0 {
		o := s.freeOps[n-1]
		s.freeOps = s.freeOps[:n-1]
		o.kind = k
		return o
	}
	more := make([]op, opBatch)
	for i := range more {
		s.freeOps = append(s.freeOps, &more[i])
	}
	return s.newOp(k)
}

func (s *sim) release(o *op) {
	// the most frequent: its other fields were not used
	if o.kind == opAtomic && o.Task() != nil && !o.notifies && !s.unordered() {
		o.phase = arriving
		o.SetTask(nil)
		s.freeOps = append(s.freeOps, o)
		return
	}
	data := o.data[:0]
	if cap(data) > maxKeptData {
		data = nil
	}
	*o = op{data: data, order: order{successors: o.successors[:0]}}
	s.freeOps = append(s.freeOps, o)
}

// Happen implements engine.Model: it makes the operation of ev go through the phase that it has reached.
func (s *sim) Happen(ev *engine.Event) *engine.Task {
	o := opOf(ev)
	switch o.phase {
	case arriving:
		return s.arrive(o)
	case applying, writing, signalling, notifying:
		return s.effect(o)
	}
	if o.phase == replying {
		return s.replyArrived(o)
	}
	return s.complete(o)
}

// effect applies o to the memory of its target. An operation may take effect in two steps.
func (s *sim) effect(o *op) *engine.Task {
	if s.anyDead && o.to.dead {
		return s.failOp(o)
	}
	if f := o.flow; f != nil && o.phase == applying && s.unordered() && f.mustWait(o) {
		f.hold(o)
		return nil
	}
	switch o.phase {
	case writing:
		s.write(o)
		s.unlock(o.to, o.off)
		return s.finishEffect(o)
	case signalling:
		s.applySignal(o)
		return s.reply(o)
	case notifying:
		return s.notify(o)
	}
	switch o.kind {
	case opPut:
		copy(o.to.heap[o.off:], o.data)
		if s.exploring() {
			s.explorer.wroteReserved(o.to, o.off, s.explorer.bytes(o.data))
		}
		s.record(effectStep, o)
		s.notifyWaiters(o.to, o.off, o.off+uint64(len(o.data)))
		if o.signal {
			o.phase = signalling
			if d := s.signalTime(); d > 0 || s.exploring() {
				s.engine.Schedule(s.engine.Now()+d, &o.Event)
				return nil
			}
			s.applySignal(o)
		}
	case opGet:
		o.data = append(o.data[:0], o.to.heap[o.off:o.off+uint64(o.size)]...)
		s.record(effectStep, o)
	case opAtomic:
		if o.nic && s.cfg.Atomics == Split {
			return s.splitAtomic(o)
		}
		o.old = s.applyAtomic(o)
		s.record(effectStep, o)
	}
	return s.finishEffect(o)
}

// applyAtomic applies o to its word and returns the old value.
func (s *sim) applyAtomic(o *op) uint64 {
	old := word(o.to.heap, o.off, o.bytes)
	v := changedWord(o.atomicOp, o.bytes, old, o.operand, o.cond)
	s.store(o.to, o.off, o.bytes, old, v)
	return old
}

// store changes a word from old to v.
func (s *sim) store(p *pe, off uint64, bytes uint8, old, v uint64) {
	if v == old {
		return
	}
	if bytes == 4 {
		binary.NativeEndian.PutUint32(p.heap[off:], uint32(v))
	} else {
		binary.NativeEndian.PutUint64(p.heap[off:], v)
	}
	if s.exploring() {
		s.explorer.wroteReserved(p, off, v)
	}
	s.notifyWaiters(p, off, off+uint64(bytes))
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

func (s *sim) applySignal(o *op) {
	old := word(o.to.heap, o.sig, 8)
	v := changedWord(o.atomicOp, 8, old, o.operand, 0)
	s.record(signalStep, o)
	s.store(o.to, o.sig, 8, old, v)
}

// splitAtomic reads the word of an atomic of the NIC, and schedules the write: the CPU may change the word in between.
// The NIC's other atomics on the word wait.
func (s *sim) splitAtomic(o *op) *engine.Task {
	if s.lock(o) {
		return nil
	}
	o.old = word(o.to.heap, o.off, o.bytes)
	s.record(readStep, o)
	if o.atomicOp == transport.Fetch {
		s.unlock(o.to, o.off)
		return s.finishEffect(o)
	}
	o.phase = writing
	s.engine.Schedule(s.engine.Now()+s.splitTime(), &o.Event)
	return nil
}

// write does the second half of a split atomic.
func (s *sim) write(o *op) {
	v := changedWord(o.atomicOp, o.bytes, o.old, o.operand, o.cond)
	s.record(writeStep, o)
	if v != o.old { // a failed compare-swap writes nothing
		s.store(o.to, o.off, o.bytes, ^v, v) // even if the CPU has changed it since
	}
}

// A lockedWord is a word between the two halves of a split atomic.
type lockedWord struct {
	off     uint64
	waiting []*op
}

// lock makes o the NIC's only atomic on its word. If there is another, it queues o and reports true.
func (s *sim) lock(o *op) (waits bool) {
	at := o.off &^ 7
	for i := range o.to.lockedWords {
		if l := &o.to.lockedWords[i]; l.off == at {
			l.waiting = append(l.waiting, o)
			return true
		}
	}
	o.to.lockedWords = append(o.to.lockedWords, lockedWord{off: at})
	return false
}

// locked reports whether o must wait for another atomic of the NIC on its word.
func (s *sim) locked(o *op) bool {
	return o.kind == opAtomic && o.nic && s.cfg.Atomics == Split && !o.to.dead &&
		slices.ContainsFunc(o.to.lockedWords, func(l lockedWord) bool { return l.off == o.off&^7 })
}

// heldUp reports whether o cannot take effect now: a fence, another operation or a lock of the NIC holds it up.
func (s *sim) heldUp(o *op) bool {
	return o.flow != nil && o.phase == applying && (o.flow.mustWait(o) || s.locked(o))
}

// unlock schedules the atomics that wait for the word.
func (s *sim) unlock(p *pe, off uint64) {
	at := off &^ 7
	i := slices.IndexFunc(p.lockedWords, func(l lockedWord) bool { return l.off == at })
	waiting := p.lockedWords[i].waiting
	p.lockedWords = slices.Delete(p.lockedWords, i, i+1)
	for _, o := range waiting {
		s.engine.Schedule(s.engine.Now(), &o.Event)
	}
}

// notifyWaiters evaluates the conditions of tasks of p that read the changed bytes from lo to hi.
func (s *sim) notifyWaiters(p *pe, lo, hi uint64) {
	if len(p.Waiting()) > 0 {
		p.RecheckRange(lo, hi)
	}
}

// complete ends o at its initiator.
func (s *sim) complete(o *op) *engine.Task {
	if s.anyDead && o.from.dead {
		s.release(o)
		return nil
	}
	if t := o.Task(); t != nil { // it takes the result and releases o
		if !o.Awaited() {
			s.release(o)
			return nil
		}
		if o.nic && !s.unordered() {
			t.Elapsed += s.answerTime()
		}
		return t
	}
	if o.dst != nil {
		storeResult(o)
		if s.exploring() {
			s.explorer.fetched(o)
		}
	}
	f := o.flow
	s.release(o)
	return f.opCompleted(s)
}

// storeResult writes the result of o to o.dst.
func storeResult(o *op) {
	switch {
	case o.kind == opGet:
		copy(o.dst, o.data)
	case o.bytes == 4:
		binary.NativeEndian.PutUint32(o.dst, uint32(o.old))
	default:
		binary.NativeEndian.PutUint64(o.dst, o.old)
	}
}
