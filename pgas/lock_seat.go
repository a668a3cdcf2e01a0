package pgas

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

type stage uint8

const (
	stageAway stage = iota
	stageBusy
	stageHeld
	stageLost
)

// An order is what a goroutine is to do.
type order uint8

const (
	orderWait   order = iota // stand in line
	orderEnter               // go to the end of the queue
	orderFollow              // wait for the turn: the PE stands in the queue already
	orderHave                // the lock is yours
	orderGone                // it has left the line
)

// A lockWaiter is a goroutine in line.
type lockWaiter struct {
	told order
	wake chan struct{} // closed when told is not orderWait any more
}

// A seat is who of a PE deals with a lock.
//
// Invariant: nobody stands in line unless somebody is busy or holds the lock.
type seat struct {
	stage stage
	line  []*lockWaiter
}

func (s *seat) empty() bool { return s.stage == stageAway }

// arrive says what a goroutine that wants the lock is to do.
func (s *seat) arrive() (order, *lockWaiter) {
	switch s.stage {
	case stageAway:
		s.stage = stageBusy
		return orderEnter, nil
	case stageLost:
		s.stage = stageBusy
		return orderFollow, nil
	}
	me := &lockWaiter{wake: make(chan struct{})}
	s.line = append(s.line, me)
	return orderWait, me
}

// try makes a goroutine busy if nobody is near the lock.
func (s *seat) try() bool {
	if s.stage != stageAway {
		return false
	}
	s.stage = stageBusy
	return true
}

// tell gives the first in line an order, and reports whether there is anybody.
func (s *seat) tell(o order) bool {
	if len(s.line) == 0 {
		return false
	}
	first := s.line[0]
	s.line = slices.Delete(s.line, 0, 1)
	first.told = o
	close(first.wake)
	return true
}

// withdraw takes a goroutine that gives up out of the line. An order that has come first stands.
func (s *seat) withdraw(me *lockWaiter) order {
	if me.told != orderWait {
		return me.told
	}
	s.line = slices.DeleteFunc(s.line, func(w *lockWaiter) bool { return w == me })
	return orderGone
}

// got: the lock is the PE's.
func (s *seat) got() { s.stage = stageHeld }

// release makes the caller busy with passing the lock on, if it is the PE's.
func (s *seat) release() bool {
	if s.stage != stageHeld {
		return false
	}
	s.stage = stageBusy
	return true
}

// away: the PE is no longer in the queue, or never was.
func (s *seat) away() {
	if !s.tell(orderEnter) {
		s.stage = stageAway
	}
}

// abandon: who was busy leaves the PE's place in the queue to the next in line. It reports whether there
// is one; if not, a keeper is busy from now on.
func (s *seat) abandon() bool { return s.tell(orderFollow) }

// inherit: the keeper's turn has come. It reports whether somebody in line has the lock now; if not, the
// keeper is busy passing it on.
func (s *seat) inherit() bool {
	if !s.tell(orderHave) {
		return false
	}
	s.stage = stageHeld
	return true
}

// lose: the keeper can wait no longer.
func (s *seat) lose() {
	if !s.tell(orderFollow) {
		s.stage = stageLost
	}
}
