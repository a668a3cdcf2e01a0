// Package locklocal is the process-local half of the specification's lock: what the goroutines of one PE do among
// themselves. A PE has one place in the queue of a lock (package pgas), whatever number of its goroutines want the
// lock.
package locklocal

// The goroutines of a PE at one lock. The PE has one place in the lock's queue of PEs, and a local Queue chooses the
// goroutine that acts for the PE: one at a time, in the order in which they asked for the lock. The others wait in the
// local queue. Each receives a directive when a goroutine before it has finished or has given up.
//
//	absent    the PE is not in the queue, and no goroutine wants it to be
//	busy      one goroutine (or the proxy) enters the queue, waits in it for the turn, or passes the lock on
//	held      the lock is the PE's
//	orphaned  the PE stands in the queue and no goroutine waits for its turn: a PE of the job has died
//
// The busy goroutine reports how its work ended, by Acquired, Left or Abandon; the proxy also by Inherit or Orphaned.
// No function of this package blocks or touches the lock's words, so queue_test.go can try every order of events.

import "slices"

type state uint8

const (
	stateAbsent state = iota
	stateBusy
	stateHeld
	stateOrphaned
)

// Directive is what a goroutine is to do.
type Directive uint8

const (
	Wait      Directive = iota // wait in the local queue
	Enter                      // go to the end of the queue
	Follow                     // wait for the turn: the PE stands in the queue already
	Granted                    // the lock is yours
	Withdrawn                  // it has left the local queue
)

// Waiter is a goroutine in the local queue.
type Waiter struct {
	Directive Directive
	Wake      chan struct{} // closed when Directive is no longer Wait
}

// Queue is the local queue of a PE at one lock.
//
// Invariant: no goroutine is in Line unless another one, or the proxy, is busy or holds the lock.
type Queue struct {
	state state
	Line  []*Waiter
}

func (s *Queue) empty() bool { return s.state == stateAbsent }

// Join returns what a goroutine that wants the lock is to do, and its Waiter if that is Wait.
func (s *Queue) Join() (Directive, *Waiter) {
	switch s.state {
	case stateAbsent:
		s.state = stateBusy
		return Enter, nil
	case stateOrphaned:
		s.state = stateBusy
		return Follow, nil
	}
	me := &Waiter{Wake: make(chan struct{})}
	s.Line = append(s.Line, me)
	return Wait, me
}

// Try makes the caller busy if the PE is absent, and reports whether it has.
func (s *Queue) Try() bool {
	if s.state != stateAbsent {
		return false
	}
	s.state = stateBusy
	return true
}

// direct gives the first waiter a directive, and reports whether there is a waiter.
func (s *Queue) direct(o Directive) bool {
	if len(s.Line) == 0 {
		return false
	}
	first := s.Line[0]
	s.Line = slices.Delete(s.Line, 0, 1)
	first.Directive = o
	close(first.Wake)
	return true
}

// Leave removes a goroutine that gives up, and returns Withdrawn. A directive that came first stands, and is returned.
func (s *Queue) Leave(me *Waiter) Directive {
	if me.Directive != Wait {
		return me.Directive
	}
	s.Line = slices.DeleteFunc(s.Line, func(w *Waiter) bool { return w == me })
	return Withdrawn
}

// Acquired records that the lock is the PE's.
func (s *Queue) Acquired() { s.state = stateHeld }

// Release makes the caller busy with passing the lock on, and reports false if the lock is not the PE's.
func (s *Queue) Release() bool {
	if s.state != stateHeld {
		return false
	}
	s.state = stateBusy
	return true
}

// Left records that the PE is not in the lock's queue of PEs: it has left, or never was.
func (s *Queue) Left() {
	if !s.direct(Enter) {
		s.state = stateAbsent
	}
}

// Abandon leaves the PE's place in the queue of PEs to the first waiter, when the busy goroutine gives up. It reports
// whether there is a waiter; if there is none, the proxy is busy from now on.
func (s *Queue) Abandon() bool { return s.direct(Follow) }

// Inherit gives the lock to the first waiter, when the proxy's turn has come. It reports whether there is a waiter; if
// there is none, the proxy is busy passing the lock on.
func (s *Queue) Inherit() bool {
	if !s.direct(Granted) {
		return false
	}
	s.state = stateHeld
	return true
}

// Orphaned records that the proxy can wait no longer.
func (s *Queue) Orphaned() {
	if !s.direct(Follow) {
		s.state = stateOrphaned
	}
}
