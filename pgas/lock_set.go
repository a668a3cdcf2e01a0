package pgas

// The seats of a PE, by lock. A lock that one goroutine at a time is near needs no seat: the stage of that is
// in a slot, which the lock shares with others by a hash of its offset, and changes by compare-swap. Once a
// second goroutine comes, or one to another lock of the slot, there are seats, and the slot says so until
// all of them are empty again.

import (
	"sync"
	"sync/atomic"
)

const (
	lockSlots  = 64
	slotStages = 7          // the bits of a slot that hold a stage; the others are the lock's offset
	slotShared = ^uint64(0) // there are seats
)

// A lockSlot is 0 (nobody is near any of its locks), slotShared, or a lock's offset and its stage.
type lockSlot struct{ atomic.Uint64 }

func slotOf(off uintptr) int { return int(uint64(off) / 8 * 0x9e3779b97f4a7c15 >> 58) }

func slotStage(v uint64) stage { return stage(v & slotStages) }

func inSlot(off uintptr, s stage) uint64 {
	if s == stageAway {
		return 0
	}
	return uint64(off) | uint64(s)
}

// move changes the stage of the lock at off, if the slot knows it to be in stage from.
func (l *lockSlot) move(off uintptr, from, to stage) bool {
	return l.CompareAndSwap(inSlot(off, from), inSlot(off, to))
}

// lockSet is the seats of a PE that somebody sits in.
//
// Invariant: a slot is shared if and only if there are seats of its locks.
type lockSet struct {
	slots   [lockSlots]lockSlot
	mu      sync.Mutex
	seats   map[uintptr]*seat // by the offset of the lock
	seated  [lockSlots]int    // how many of them each slot has
	spare   []*seat
	closed  bool
	keepers int
	idle    chan struct{} // closed when there are none any more, if somebody waits for that
}

// at calls f with the seat of the lock at off, which is made for it and ends when nobody sits in it.
func (s *lockSet) at(off uintptr, f func(*seat)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slotOf(off)
	s.share(i)
	t := s.sit(off)
	f(t)
	if !t.empty() {
		return
	}
	delete(s.seats, off)
	s.spare = append(s.spare, t)
	if s.seated[i]--; s.seated[i] == 0 {
		s.slots[i].Store(0)
	}
}

// sit returns the seat of the lock at off, a new one if there is none.
func (s *lockSet) sit(off uintptr) *seat {
	if t := s.seats[off]; t != nil {
		return t
	}
	if s.seats == nil {
		s.seats = map[uintptr]*seat{}
	}
	t := new(seat)
	if n := len(s.spare); n > 0 {
		t, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	s.seats[off] = t
	s.seated[slotOf(off)]++
	return t
}

// share makes slot i shared, and a seat of what it knew.
func (s *lockSet) share(i int) {
	for {
		switch v := s.slots[i].Load(); {
		case v == slotShared:
			return
		case s.slots[i].CompareAndSwap(v, slotShared):
			if v != 0 {
				s.sit(uintptr(v &^ slotStages)).stage = slotStage(v)
			}
			return
		}
	}
}

func (s *lockSet) arrive(off uintptr) (o order, me *lockWaiter) {
	if s.slots[slotOf(off)].move(off, stageAway, stageBusy) {
		return orderEnter, nil
	}
	s.at(off, func(t *seat) { o, me = t.arrive() })
	return o, me
}

func (s *lockSet) withdraw(off uintptr, me *lockWaiter) (o order) {
	s.at(off, func(t *seat) { o = t.withdraw(me) })
	return o
}

func (s *lockSet) try(off uintptr) (ok bool) {
	if s.slots[slotOf(off)].move(off, stageAway, stageBusy) {
		return true
	}
	s.at(off, func(t *seat) { ok = t.try() })
	return ok
}

func (s *lockSet) release(off uintptr) (ok bool) {
	if s.slots[slotOf(off)].move(off, stageHeld, stageBusy) {
		return true
	}
	s.at(off, func(t *seat) { ok = t.release() })
	return ok
}

func (s *lockSet) inherit(off uintptr) (ok bool) {
	s.at(off, func(t *seat) { ok = t.inherit() })
	return ok
}

func (s *lockSet) got(off uintptr) {
	if !s.slots[slotOf(off)].move(off, stageBusy, stageHeld) {
		s.at(off, (*seat).got)
	}
}

func (s *lockSet) away(off uintptr) {
	if !s.slots[slotOf(off)].move(off, stageBusy, stageAway) {
		s.at(off, (*seat).away)
	}
}

func (s *lockSet) lose(off uintptr) { s.at(off, (*seat).lose) }

// abandon reports whether a keeper must start; keepers counts it.
func (s *lockSet) abandon(off uintptr) (keep bool) {
	s.at(off, func(t *seat) {
		switch {
		case t.abandon():
		case s.closed:
			t.lose()
		default:
			keep = true
			s.keepers++
		}
	})
	return keep
}

// kept is the end of a keeper.
func (s *lockSet) kept() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keepers--; s.keepers == 0 && s.idle != nil {
		close(s.idle)
	}
}

// close makes abandon start no more keepers. It returns nil if there are none, and otherwise a channel that is closed
// when the last one has ended.
func (s *lockSet) close() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.keepers == 0 {
		return nil
	}
	s.idle = make(chan struct{})
	return s.idle
}
