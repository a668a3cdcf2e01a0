package sim

// Faults. A PE that is delayed computes nothing for a while. A PE that dies stops at once. Operations that it has
// sent take effect; operations on it are lost. The other PEs are told Config.Detection later, and operations and
// waits that need the dead PE then end with a *pgas.PeerError.

import (
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
)

// killedBySignal9 is the wait status of a process that was killed.
const killedBySignal9 = 9

// planFaults schedules the deaths and delays of the Config. An exploration tries a death at every point.
func (s *sim) planFaults() {
	for _, d := range s.cfg.Deaths {
		p := s.pes[d.PE]
		s.engine.Schedule(engine.Picos(d.At), &engine.NewCall(&p.PE, callDeath, func() { s.killPE(p) }).Event)
	}
	if s.exploring() {
		return // an exploration has no time
	}
	for _, d := range s.cfg.Delays {
		p := s.pes[d.PE]
		s.engine.Schedule(engine.Picos(d.At), &engine.NewCall(&p.PE, callDelay, func() { p.Delay(s.engine.Now() + engine.Picos(d.For)) }).Event)
	}
}

// The purposes of calls of the engine.
const (
	callDeath = engine.OtherPurpose + iota
	callDelay
	callDeathKnown
)

func (s *sim) killPE(p *pe) {
	if p.dead || !p.Live() {
		return
	}
	p.dead, s.anyDead = true, true
	s.recordDeath(p)
	p.Kill()
	s.engine.Schedule(s.engine.Now()+engine.Picos(s.cfg.Detection), &engine.NewCall(&p.PE, callDeathKnown, func() { s.announceDeath(p) }).Event)
}

// announceDeath tells all PEs that p is dead.
func (s *sim) announceDeath(p *pe) {
	p.deathKnown = true
	for _, q := range s.pes {
		if !q.dead {
			q.seg.Fail(p.ID, killedBySignal9)
			q.Recheck()
			q.EndSleeps()
		}
	}
	lost := p.unanswered
	p.unanswered = nil
	for _, o := range lost {
		s.failOp(o)
	}
}

// peerError returns the error with which operations on p fail.
func (p *pe) peerError() error {
	return &pgas.PeerError{PE: p.ID, Host: p.host.name, Err: boot.HowDied(killedBySignal9)}
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
func (s *sim) failOp(o *op) *engine.Task {
	p := o.to
	if !p.deathKnown {
		p.unanswered = append(p.unanswered, o)
		return nil
	}
	if s.unordered() {
		o.flow.markApplied(s, o) // so that operations behind it fail too
	}
	if t := o.Task(); t != nil {
		if o.Awaited() {
			s.engine.FailWait(t, p.peerError(), reasonLost)
		}
		return nil
	}
	f := o.flow
	f.lose()
	s.release(o)
	return f.opCompleted(s)
}
