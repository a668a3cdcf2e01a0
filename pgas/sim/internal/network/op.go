package network

// Operations under way. An Op is a pooled object from its issue until it is complete on both sides. Events
// move it through its phases:
//
//	NIC   leave the initiator's NIC, arrive at the target's, take effect, and return with the result
//	CPU   take effect: the PEs of a host access each other's memory
//
// Effect applies an operation to memory, in every mode of the simulator.

import (
	"encoding/binary"
	"slices"

	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// An Op is an operation under way, on the memory of a PE. The fields that every event of an operation reads are in its
// first two lines of 64 bytes.
type Op struct {
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
	from         *PE
	to           *PE
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
	late *lateness // with an adversary only
	order
}

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

// newOp returns an operation of kind k, whose other fields are zero or not used by the kind.
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

// Effect applies o to the memory of its target. An operation may take effect in two steps.
func (net *Network) Effect(o *Op) *engine.Task {
	if net.anyDead && o.to.dead {
		return net.failOp(o)
	}
	if f := o.flow; f != nil && o.phase == applying && net.unordered() && f.mustWait(o) {
		f.hold(o)
		net.late().demandBefore(o)
		return nil
	}
	switch o.phase {
	case writing:
		net.write(o)
		net.unlock(o.to, o.off)
		return net.finishEffect(o)
	case signalling:
		net.applySignal(o)
		return net.reply(o)
	case notifying:
		return net.notify(o)
	}
	switch o.kind {
	case opPut:
		o.readSource()
		copy(o.to.heap[o.off:], o.data)
		if net.exploring() {
			net.observer.WroteBytes(o.to, o.off, o.data)
		}
		net.record(effectStep, o)
		net.notifyWaiters(o.to, o.off, o.off+uint64(len(o.data)))
		if o.signal {
			o.phase = signalling
			if d := net.signalTime(); d > 0 || net.exploring() {
				net.Engine.Schedule(net.Engine.Now()+d, &o.Event)
				return nil
			}
			net.applySignal(o)
		}
	case opGet:
		o.data = append(o.data[:0], o.to.heap[o.off:o.off+uint64(o.size)]...)
		net.record(effectStep, o)
	case opAtomic:
		if o.nic && net.config.Split {
			return net.splitAtomic(o)
		}
		o.old = net.applyAtomic(o)
		net.record(effectStep, o)
	}
	return net.finishEffect(o)
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

// splitAtomic reads the word of an atomic of the NIC, and schedules the write: the CPU may change the word in between.
// The NIC's other atomics on the word wait.
func (net *Network) splitAtomic(o *Op) *engine.Task {
	if net.lock(o) {
		return nil
	}
	o.old = word(o.to.heap, o.off, o.bytes)
	net.record(readStep, o)
	if o.atomicOp == transport.Fetch {
		net.unlock(o.to, o.off)
		return net.finishEffect(o)
	}
	o.phase = writing
	net.Engine.Schedule(net.Engine.Now()+net.splitTime(), &o.Event)
	return nil
}

// write does the second half of a split atomic.
func (net *Network) write(o *Op) {
	v := changedWord(o.atomicOp, o.bytes, o.old, o.operand, o.cond)
	net.record(writeStep, o)
	if v != o.old { // a failed compare-swap writes nothing
		net.store(o.to, o.off, o.bytes, ^v, v) // even if the CPU has changed it since
	}
}

// A lockedWord is a word between the two halves of a split atomic.
type lockedWord struct {
	off     uint64
	waiting []*Op
}

// lock makes o the NIC's only atomic on its word. If there is another, it queues o and reports true.
func (net *Network) lock(o *Op) (waits bool) {
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
func (net *Network) locked(o *Op) bool {
	return o.kind == opAtomic && o.nic && net.config.Split && !o.to.dead &&
		slices.ContainsFunc(o.to.lockedWords, func(l lockedWord) bool { return l.off == o.off&^7 })
}

// HeldUp reports whether o cannot take effect now: a fence, another operation or a lock of the NIC holds it up.
func (net *Network) HeldUp(o *Op) bool {
	return o.flow != nil && o.phase == applying && (o.flow.mustWait(o) || net.locked(o))
}

// unlock schedules the atomics that wait for the word.
func (net *Network) unlock(p *PE, off uint64) {
	at := off &^ 7
	i := slices.IndexFunc(p.lockedWords, func(l lockedWord) bool { return l.off == at })
	waiting := p.lockedWords[i].waiting
	p.lockedWords = slices.Delete(p.lockedWords, i, i+1)
	for _, o := range waiting {
		net.Engine.Schedule(net.Engine.Now(), &o.Event)
	}
}

// notifyWaiters evaluates the conditions of tasks of p that read the changed bytes from lo to hi.
func (net *Network) notifyWaiters(p *PE, lo, hi uint64) {
	if len(p.Waiting()) > 0 {
		p.RecheckRange(lo, hi)
	}
}

// complete ends o at its initiator.
func (net *Network) complete(o *Op) *engine.Task {
	if net.anyDead && o.from.dead {
		net.release(o)
		return nil
	}
	if t := o.Task(); t != nil { // it takes the result and releases o
		if !o.Awaited() {
			net.release(o)
			return nil
		}
		if o.nic && !net.unordered() {
			t.Elapsed += net.answerTime()
		}
		return t
	}
	if o.dst != nil {
		storeResult(o)
		if net.exploring() {
			net.observer.Fetched(o)
		}
	}
	f := o.flow
	net.release(o)
	return f.opCompleted(net)
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
