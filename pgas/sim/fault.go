package sim

// Deaths. A PE that dies stops where it is. What it has sent arrives, what is sent to it is lost; the others
// learn of it some time later, and whatever waits then ends with a *pgas.PeerError.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
)

// killedBySignal9 is the wait status of a process that was killed.
const killedBySignal9 = 9

func (s *sim) planDeaths() {
	for _, d := range s.cfg.Deaths {
		p := s.pes[d.PE]
		o := s.newOp(opCall)
		o.call = func() { s.die(p) }
		s.queue.push(picos(d.At), o)
	}
}

func (s *sim) die(p *pe) {
	if p.dead || !slices.ContainsFunc(p.tasks, func(t *task) bool { return !t.over }) {
		return
	}
	p.dead = true
	s.recordDeath(p)
	s.kill(p)
	o := s.newOp(opCall)
	o.call = func() { s.learn(p) }
	s.queue.push(s.now+picos(s.cfg.Detection), o)
}

// learn tells all PEs that p is dead.
func (s *sim) learn(p *pe) {
	p.known = true
	for _, q := range s.pes {
		if !q.dead {
			q.seg.Fail(p.id, killedBySignal9)
			s.recheckOwn(q)
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
	if t := o.task; t != nil {
		if !t.over && o.gen == t.gen {
			t.err = p.peerError()
			t.gen++
			s.after(t, s.now)
		}
		return nil
	}
	f := o.flow
	f.ch.err = p.peerError()
	s.release(o)
	return f.completed(s)
}
