// Package locklocal is the process-local half of the specification's lock: what the goroutines of one PE do among themselves. A
// PE has one place in the queue of a lock (package pgas), whatever number of its goroutines want the lock.
package locklocal

// The goroutines of a PE at one lock. The PE has one place in the lock's queue, and a seat says who of its
// goroutines deals with it: one at a time, in the order in which they came. The others stand in line and
// are told what to do when somebody before them is through, or gives up.
//
//	away    the PE is not in the queue, and nobody wants to be
//	busy    one goroutine (or a keeper) enters the queue, waits in it for the turn, or passes the lock on
//	held    the lock is the PE's
//	lost    the PE stands in the queue and nobody waits for its turn: a PE of the job has died
//
// Who is busy says how it ended: got, away, abandon, and a keeper also inherit or lose. Nothing here
// blocks or touches the lock's words, so lock_seat_test.go can try every order of events there is.

import "slices"

type state uint8

const (
	stateAbsent state = iota
	stateBusy
	stateHeld
	stateOrphaned
)

// An order is what a goroutine is to do.
type Directive uint8

const (
	Wait      Directive = iota // stand in line
	Enter                      // go to the end of the queue
	Follow                     // wait for the turn: the PE stands in the queue already
	Granted                    // the lock is yours
	Withdrawn                  // it has left the line
)

// A lockWaiter is a goroutine in line.
type Waiter struct {
	Directive Directive
	Wake      chan struct{} // closed when told is not directWait any more
}

// A seat is who of a PE deals with a lock.
//
// Invariant: nobody stands in line unless somebody is busy or holds the lock.
type Queue struct {
	state state
	Line  []*Waiter
}

func (s *Queue) empty() bool { return s.state == stateAbsent }

// Join says what a goroutine that wants the lock is to do.
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

// Try makes a goroutine busy if nobody is near the lock.
func (s *Queue) Try() bool {
	if s.state != stateAbsent {
		return false
	}
	s.state = stateBusy
	return true
}

// direct gives the first in line an order, and reports whether there is anybody.
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

// Leave takes a goroutine that gives up out of the line. An order that has come first stands.
func (s *Queue) Leave(me *Waiter) Directive {
	if me.Directive != Wait {
		return me.Directive
	}
	s.Line = slices.DeleteFunc(s.Line, func(w *Waiter) bool { return w == me })
	return Withdrawn
}

// Acquired: the lock is the PE's.
func (s *Queue) Acquired() { s.state = stateHeld }

// Release makes the caller busy with passing the lock on, if it is the PE's.
func (s *Queue) Release() bool {
	if s.state != stateHeld {
		return false
	}
	s.state = stateBusy
	return true
}

// Left: the PE is no longer in the queue, or never was.
func (s *Queue) Left() {
	if !s.direct(Enter) {
		s.state = stateAbsent
	}
}

// Abandon: who was busy leaves the PE's place in the queue to the next in line. It reports whether there
// is one; if not, a keeper is busy from now on.
func (s *Queue) Abandon() bool { return s.direct(Follow) }

// Inherit: the keeper's turn has come. It reports whether somebody in line has the lock now; if not, the
// keeper is busy passing it on.
func (s *Queue) Inherit() bool {
	if !s.direct(Granted) {
		return false
	}
	s.state = stateHeld
	return true
}

// Orphaned: the keeper can wait no longer.
func (s *Queue) Orphaned() {
	if !s.direct(Follow) {
		s.state = stateOrphaned
	}
}
