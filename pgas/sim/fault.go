package sim

// Faults. A PE that is delayed computes nothing for a while. A PE that dies stops where it is. What it has sent arrives, what is sent to it is lost; the others
// learn of it some time later, and whatever waits then ends with a *pgas.PeerError.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
)

// killedBySignal9 is the wait status of a process that was killed.
const killedBySignal9 = 9

// planFaults queues what is to go wrong. An exploration tries a death at every moment.
func (s *sim) planFaults() {
	for _, d := range s.cfg.Deaths {
		p := s.pes[d.PE]
		s.schedule(picos(d.At), s.callOp(p, callDeath, func() { s.killPE(p) }))
	}
	if s.exploring() {
		return // where no PE is faster than another
	}
	for _, d := range s.cfg.Delays {
		p := s.pes[d.PE]
		s.schedule(picos(d.At), s.callOp(p, callDelay, func() { p.delayedUntil = s.now + picos(d.For) }))
	}
}

// What a callOp is about.
const (
	callDeath = iota + 1
	callDelay
	callDeathKnown
	callWake
	callDeadline
)

// callOp is an op that calls f, which concerns p; what tells it from others.
func (s *sim) callOp(p *pe, what uint64, f func()) *op {
	o := s.newOp(opCall)
	o.from, o.to, o.off, o.call = p, p, what, f
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

// peerError is what the others say of p.
func (p *pe) peerError() error {
	return &pgas.PeerError{PE: p.id, Host: p.host.name, Err: boot.HowDied(killedBySignal9)}
}

// failOp ends o, whose target is dead, once that is known.
func (s *sim) failOp(o *op) *task {
	p := o.to
	if !p.deathKnown {
		p.unanswered = append(p.unanswered, o)
		return nil
	}
	if s.unordered() {
		o.flow.markApplied(s, o) // so that those behind it are lost too
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
	f.ch.err = p.peerError()
	s.release(o)
	return f.opCompleted(s)
}
