package network

// Faults. A PE that is delayed computes nothing for a while. A PE that dies stops at once. Operations that it has
// sent take effect; operations on it are lost. The other PEs are told Config.Detection later. Then operations and waits
// that need the dead PE end with a *pgas.PeerError.

import (
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
)

// killedBySignal9 is the wait status of a process that was killed.
const killedBySignal9 = 9

// PlanDeath makes PE number pe die at a time, or at any in an exploration.
func (net *Network) PlanDeath(pe int, at time.Duration) {
	p := net.pes[pe]
	net.Engine.Schedule(engine.Picos(at), &engine.NewCall(&p.PE, Death, func() { net.kill(p) }).Event)
}

// PlanDeathAfter makes PE number pe die when so many events have happened.
func (net *Network) PlanDeathAfter(pe int, events uint64) {
	net.Engine.After(events, func() { net.kill(net.pes[pe]) })
}

// PlanDelay makes PE number pe compute nothing for d, from a time on.
func (net *Network) PlanDelay(pe int, at, d time.Duration) {
	p := net.pes[pe]
	begin := func() { p.PE.Delay(net.Engine.Now() + engine.Picos(d)) }
	net.Engine.Schedule(engine.Picos(at), &engine.NewCall(&p.PE, Delay, begin).Event)
}

// kill makes p die now, unless all of its tasks have ended.
func (net *Network) kill(p *PE) {
	if p.dead || !p.Live() {
		return
	}
	p.dead, net.anyDead = true, true
	e := net.trace.next()
	*e = step{time: net.Engine.Now(), kind: deathStep, from: int32(p.ID)}
	if net.trace.out != nil {
		net.trace.print(e)
	}
	p.Kill()
	if a := net.late(); a != nil {
		a.arriveSoon(func(o *Op) bool { return o.from == p })
	}
	known := engine.NewCall(&p.PE, DeathKnown, func() { net.announceDeath(p) })
	net.Engine.Schedule(net.Engine.Now()+engine.Picos(net.config.Detection), &known.Event)
}

// announceDeath tells all PEs that p is dead.
func (net *Network) announceDeath(p *PE) {
	p.deathKnown = true
	for _, q := range net.pes {
		if !q.dead {
			q.seg.Fail(p.ID, killedBySignal9)
			q.Recheck()
			q.EndSleeps()
		}
	}
	lost := p.unanswered
	p.unanswered = nil
	for _, o := range lost {
		net.failOp(o)
	}
}

// peerError returns the error with which operations on p fail.
func (p *PE) peerError() error {
	return &pgas.PeerError{PE: p.ID, Host: p.HostName(), Err: boot.HowDied(killedBySignal9)}
}

// lose records that an operation of f is lost, for all later quiets: each goroutine that shares the channel has its
// own.
func (f *flow) lose() {
	f.err = f.to.peerError()
	if f.ch.err == nil {
		f.ch.err = f.err
	}
}

// failOp ends o, whose target is dead, or keeps it until the death is known.
func (net *Network) failOp(o *Op) *engine.Task {
	p := o.to
	if !p.deathKnown {
		p.unanswered = append(p.unanswered, o)
		return nil
	}
	if net.unordered() {
		o.flow.markApplied(net, o) // so that operations behind it fail too
	}
	if t := o.Task(); t != nil {
		if o.Awaited() {
			net.Engine.FailWait(t, p.peerError(), Lost)
		}
		return nil
	}
	f := o.flow
	f.lose()
	net.release(o)
	return f.opCompleted(net)
}
