package network

// Operations under way. An Op is a pooled object from its issue until it is complete on both sides. Events
// move it through its phases:
//
//	NIC   leave the initiator's NIC, arrive at the target's, take effect, and return with the result
//	CPU   take effect: the PEs of a host access each other's memory
//
// Effect applies an operation to memory, in every mode of the simulator.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/transport"
)

// arrive has the NIC of the target handle o.
func (net *Network) arrive(o *Op) *engine.Task {
	if net.anyDead && o.to.dead {
		return net.failOp(o)
	}
	when := net.receive(o.link, o.to.host, net.payload(o))
	if o.kind == opAtomic || o.signal {
		begin := max(when, o.to.host.atomicFree)
		o.to.host.atomicFree = begin + net.costs.NICAtomic
		when = o.to.host.atomicFree
		if o.kind == opAtomic && net.config.Split {
			when = begin + net.costs.NICAtomic/2
		}
	}
	when = o.afterEarlierNotes(when)
	o.phase = applying
	if when > net.Engine.Now() {
		net.Engine.At(when, &o.Event)
		return nil
	}
	return net.Effect(o)
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

// finishEffect sends the reply of o, which has taken effect: after its note, if it has one.
func (net *Network) finishEffect(o *Op) *engine.Task {
	if !o.notifies {
		return net.reply(o)
	}
	o.phase = notifying
	if d := net.signalTime(); d > 0 || net.exploring() {
		net.Engine.Schedule(net.Engine.Now()+d, &o.Event)
		return nil
	}
	return net.notify(o)
}

// notify delivers the note of o, which is its last step at the target.
func (net *Network) notify(o *Op) *engine.Task {
	net.record(noteStep, o)
	b := o.to.openNotes()
	n := transport.Note{Stamp: o.note.stamp, Bytes: o.note.bytes, Off: o.off}
	if len(b.overflow) > 0 || !net.push(o.to, n) {
		b.overflow = append(b.overflow, n)
		b.ring.SetOverflow(len(b.overflow))
		b.ring.RequestSpace()
		o.to.Recheck()
	}
	return net.reply(o)
}

// reply sends the result of o, which has taken effect, back to the initiator.
func (net *Network) reply(o *Op) *engine.Task {
	if net.unordered() {
		o.flow.markApplied(net, o)
	}
	o.phase = replying
	switch {
	case net.exploring() || !o.nic && !net.config.Adversary:
		return net.complete(o)
	case net.config.Adversary:
		if !net.adversary.keeps(o) {
			net.Engine.At(net.Engine.Now()+net.adversary.replyTime(o), &o.Event)
		}
	case o.Task() != nil || o.dst != nil:
		net.Engine.At(net.transmit(o.link, o.to.host, net.answer(o), net.Engine.Now()), &o.Event)
	default:
		// Acknowledgements occupy no NIC.
		f := o.flow
		f.completedAt = max(f.completedAt, net.Engine.Now()+o.link.Latency)
		f.ch.completedAt = max(f.ch.completedAt, f.completedAt)
		return net.complete(o)
	}
	return nil
}

// replyArrived has the NIC of the initiator handle the reply.
func (net *Network) replyArrived(o *Op) *engine.Task {
	if o.nic && !net.unordered() {
		if when := net.receive(o.link, o.from.host, net.answer(o)); when > net.Engine.Now() {
			o.phase = completing
			net.Engine.At(when, &o.Event)
			return nil
		}
	}
	return net.complete(o)
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

// HeldUp reports whether o cannot take effect now: a fence, another operation or a lock of the NIC holds it up.
func (net *Network) HeldUp(o *Op) bool {
	return o.flow != nil && o.phase == applying && (o.flow.mustWait(o) || net.locked(o))
}
