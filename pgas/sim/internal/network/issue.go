package network

// The begin of an operation: the initiator's CPU executes it, or passes it to the NIC. An adversary decides when it
// arrives.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
)

// number gives o its number, in the order of issue.
func (net *Network) number(o *Op) {
	net.issued++
	o.id = net.issued
	net.record(issueStep, o)
}

// issue sends o. The time that the CPU of t is busy with it is added to t.Elapsed.
func (net *Network) issue(o *Op, t *engine.Task) {
	net.number(o)
	switch {
	case net.exploring():
		o.phase = applying
		net.Engine.Schedule(0, &o.Event)
	case net.config.Adversary:
		net.adversary.issue(o, t)
	case o.nic:
		net.send(o, t)
	default:
		net.executeByCPU(o, t)
	}
}

// send passes o to the NIC.
func (net *Network) send(o *Op, t *engine.Task) {
	t.Elapsed += net.costs.Overhead
	n := net.payload(o)
	if o.kind == opAtomic || o.signal {
		n += 8
	}
	if o.notifies {
		n += 8
	}
	o.phase = arriving
	o.link = net.costs.link(int(o.origin), int(o.target))
	net.Engine.At(net.transmit(o.link, o.from.host, n, net.Engine.Now()+t.Elapsed), &o.Event)
}

// executeByCPU has the CPU of the initiator execute o on the memory of its host.
func (net *Network) executeByCPU(o *Op, t *engine.Task) {
	m := net.costs.memory(int(o.origin), int(o.target))
	start := net.Engine.Now() + t.Elapsed
	var done int64
	switch {
	case o.kind == opAtomic:
		done = net.takeLine(o, start, m)
	default:
		n := int64(net.weights.weighed(o.off, max(len(o.data), o.size)))
		done = start + net.costs.Hit + n*m.PerByte
		if o.from != o.to {
			done += m.Line
		}
	}
	if o.notifies && o.from != o.to {
		done += m.Line
	}
	done = o.afterEarlierNotes(done)
	o.phase = applying
	net.Engine.At(done, &o.Event)
	t.Elapsed = done - net.Engine.Now()
}

// issue decides when o arrives, which t has issued.
func (a *adversary) issue(o *Op, t *engine.Task) {
	o.phase = applying
	a.readBefore(o)
	if o.Task() != nil {
		a.looks(o)
	} else if a.takes(o, t) {
		return
	}
	a.net.Engine.At(a.net.Engine.Now()+t.Elapsed+a.net.randomTime(), &o.Event)
}

// takes holds o, which is posted, or makes it take effect now. It reports whether it has done either.
func (a *adversary) takes(o *Op, t *engine.Task) bool {
	l, late := o.lateness(), a.draw()
	l.keep = o.dst != nil && a.draw()
	switch {
	case late && !a.awaited(o):
		l.held, l.since = true, a.net.Engine.Now()+t.Elapsed
		a.held = append(a.held, o)
		a.tick()
	case !late && !l.keep && o.dst != nil && !o.to.dead && !o.flow.mustWait(o):
		a.applyNow(o)
		a.fillNow(o)
	default:
		return false
	}
	return true
}

// applyNow makes o take effect at once.
func (a *adversary) applyNow(o *Op) {
	o.phase = applying
	a.net.Effect(o)
}

// fillNow stores the result of o at once, if it is known.
func (a *adversary) fillNow(o *Op) {
	if o.dst != nil && (o.phase == replying || o.phase == notifying && o.kind == opGet) {
		storeResult(o)
		o.dst = nil
	}
}

// readBefore makes held gets of the channel of o take effect before o, which writes some of their bytes.
func (a *adversary) readBefore(o *Op) {
	for _, get := range slices.Clone(a.held) {
		if get.kind == opGet && !get.notifies && get.flow == o.flow && o.precedes(get) {
			a.drop(get)
			if get.flow.mustWait(get) {
				a.net.Engine.At(a.net.Engine.Now(), &get.Event)
			} else {
				a.applyNow(get)
			}
		}
	}
}
