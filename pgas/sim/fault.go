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
		s.at(picos(d.At), s.callOp(p, callDeath, func() { s.die(p) }))
	}
	if s.exploring() {
		return // where no PE is faster than another
	}
	for _, d := range s.cfg.Delays {
		p := s.pes[d.PE]
		s.at(picos(d.At), s.callOp(p, callDelay, func() { p.stuck = s.now + picos(d.For) }))
	}
}

// What a callOp is about.
const (
	callDeath = iota + 1
	callDelay
	callNews
	callWake
	callDeadline
)

// callOp is an op that calls f, which concerns p; what tells it from others.
func (s *sim) callOp(p *pe, what uint64, f func()) *op {
	o := s.newOp(opCall)
	o.from, o.to, o.off, o.call = p, p, what, f
	return o
}

func (s *sim) die(p *pe) {
	if p.dead || !slices.ContainsFunc(p.tasks, func(t *task) bool { return !t.over }) {
		return
	}
	p.dead, s.deaths = true, true
	s.recordDeath(p)
	s.kill(p)
	s.at(s.now+picos(s.cfg.Detection), s.callOp(p, callNews, func() { s.learn(p) }))
}

// learn tells all PEs that p is dead.
func (s *sim) learn(p *pe) {
	p.known = true
	for _, q := range s.pes {
		if !q.dead {
			q.seg.Fail(p.id, killedBySignal9)
			s.recheckOwn(q)
			s.wake(q)
		}
	}
	lost := p.lost
	p.lost = nil
	for _, o := range lost {
		s.lose(o)
	}
}

// peerError is what the others say of p.
func (p *pe) peerError() error {
	return &pgas.PeerError{PE: p.id, Host: p.host.name, Err: boot.HowDied(killedBySignal9)}
}

// lose ends o, whose target is dead, once that is known.
func (s *sim) lose(o *op) *task {
	p := o.to
	if !p.known {
		p.lost = append(p.lost, o)
		return nil
	}
	if s.chaotic() {
		o.flow.took(s, o) // so that those behind it are lost too
	}
	if t := o.task; t != nil {
		if !t.over && o.gen == t.gen {
			t.err = p.peerError()
			t.gen++
			s.after(t, s.now, whyLost)
		}
		return nil
	}
	f := o.flow
	f.ch.err = p.peerError()
	s.release(o)
	return f.completed(s)
}
