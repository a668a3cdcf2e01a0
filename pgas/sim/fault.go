package sim

// Faults. A PE that is delayed computes nothing for a while. A PE that dies stops at once. Operations that it has
// sent take effect; operations on it are lost. The other PEs are told Config.Detection later, and operations and
// waits that need the dead PE then end with a *pgas.PeerError.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
)

// killedBySignal9 is the wait status of a process that was killed.
const killedBySignal9 = 9

// planFaults schedules the deaths and delays of the Config. An exploration tries a death at every point.
func (s *sim) planFaults() {
	for _, d := range s.cfg.Deaths {
		p := s.pes[d.PE]
		s.schedule(picos(d.At), s.callOp(p, callDeath, func() { s.killPE(p) }))
	}
	if s.exploring() {
		return // an exploration has no time
	}
	for _, d := range s.cfg.Delays {
		p := s.pes[d.PE]
		s.schedule(picos(d.At), s.callOp(p, callDelay, func() { p.delayedUntil = s.now + picos(d.For) }))
	}
}

// What the function of a callOp does.
const (
	callDeath = iota + 1
	callDelay
	callDeathKnown
	callWake
	callDeadline
)

// callOp returns an op that calls f, which concerns p. An exploration tells calls apart by purpose.
func (s *sim) callOp(p *pe, purpose uint64, f func()) *op {
	o := s.newOp(opCall)
	o.from, o.to, o.off, o.call = p, p, purpose, f
	return o
}

func (s *sim) killPE(p *pe) {
	if p.dead || !slices.ContainsFunc(p.tasks, func(t *task) bool { return !t.ended }) {
		return
	}
	p.dead, s.anyDead = true, true
	s.recordDeath(p)
	s.killTasks(p)
	s.schedule(s.now+picos(s.cfg.Detection), s.callOp(p, callDeathKnown, func() { s.announceDeath(p) }))
}

// announceDeath tells all PEs that p is dead.
func (s *sim) announceDeath(p *pe) {
	p.deathKnown = true
	for _, q := range s.pes {
		if !q.dead {
			q.seg.Fail(p.id, killedBySignal9)
			s.recheckAll(q)
			s.endSleeps(q)
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
	return &pgas.PeerError{PE: p.id, Host: p.host.name, Err: boot.HowDied(killedBySignal9)}
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
func (s *sim) failOp(o *op) *task {
	p := o.to
	if !p.deathKnown {
		p.unanswered = append(p.unanswered, o)
		return nil
	}
	if s.unordered() {
		o.flow.markApplied(s, o) // so that operations behind it fail too
	}
	if t := o.task; t != nil {
		if !t.ended && o.generation == t.generation {
			t.err = p.peerError()
			t.generation++
			s.resumeAt(t, s.now, reasonLost)
		}
		return nil
	}
	f := o.flow
	f.lose()
	s.release(o)
	return f.opCompleted(s)
}
