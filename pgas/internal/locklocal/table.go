package locklocal

// The local queues of a PE, by lock. A lock that only one goroutine at a time deals with needs no Queue: its state is
// in a slot, which other locks with the same hash of their offsets use too, and changes by compare-and-swap. When a
// second goroutine asks for the lock, or for another lock of the slot, Queues are made, and the slot is marked as
// shared until all of its Queues are empty again.

import (
	"sync"
	"sync/atomic"
)

const (
	slotCount  = 64
	slotStates = 7          // the bits of a slot that hold a state; the others are the lock's offset
	slotShared = ^uint64(0) // the slot's locks have Queues
)

// A slot is 0 (no goroutine holds or wants any of its locks), slotShared, or a lock's offset and its stage.
type slot struct{ atomic.Uint64 }

func slotOf(off uintptr) int { return int(uint64(off) / 8 * 0x9e3779b97f4a7c15 >> 58) }

func slotState(v uint64) state { return state(v & slotStates) }

func inSlot(off uintptr, s state) uint64 {
	if s == stateAbsent {
		return 0
	}
	return uint64(off) | uint64(s)
}

// move changes the state of the lock at off if the slot holds state from for it, and reports whether it has.
func (l *slot) move(off uintptr, from, to state) bool {
	return l.CompareAndSwap(inSlot(off, from), inSlot(off, to))
}

// Table is the local queues of a PE that are not empty.
//
// Invariant: a slot is shared if and only if its locks have Queues.
type Table struct {
	slots   [slotCount]slot
	mu      sync.Mutex
	queues  map[uintptr]*Queue // the queues, by the offset of the lock
	used    [slotCount]int     // how many queues each slot has
	spare   []*Queue
	closed  bool
	proxies int
	drained chan struct{} // closed when there are no proxies any more; nil before Close
}

// With calls f with the Queue of the lock at off. It makes the Queue if there is none, and removes it if it is empty
// after f.
func (s *Table) With(off uintptr, f func(*Queue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slotOf(off)
	s.share(i)
	t := s.queueOf(off)
	f(t)
	if !t.empty() {
		return
	}
	delete(s.queues, off)
	s.spare = append(s.spare, t)
	if s.used[i]--; s.used[i] == 0 {
		s.slots[i].Store(0)
	}
}

// queueOf returns the Queue of the lock at off, a new one if there is none.
func (s *Table) queueOf(off uintptr) *Queue {
	if t := s.queues[off]; t != nil {
		return t
	}
	if s.queues == nil {
		s.queues = map[uintptr]*Queue{}
	}
	t := new(Queue)
	if n := len(s.spare); n > 0 {
		t, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	s.queues[off] = t
	s.used[slotOf(off)]++
	return t
}

// share marks slot i as shared, and makes a Queue of the state that it held.
func (s *Table) share(i int) {
	for {
		switch v := s.slots[i].Load(); {
		case v == slotShared:
			return
		case s.slots[i].CompareAndSwap(v, slotShared):
			if v != 0 {
				s.queueOf(uintptr(v &^ slotStates)).state = slotState(v)
			}
			return
		}
	}
}

// Join does as Queue.Join does for the lock at off.
func (s *Table) Join(off uintptr) (o Directive, me *Waiter) {
	if s.slots[slotOf(off)].move(off, stateAbsent, stateBusy) {
		return Enter, nil
	}
	s.With(off, func(t *Queue) { o, me = t.Join() })
	return o, me
}

// Take makes the lock at off the PE's if no goroutine holds or wants it, and reports whether it has. The caller then
// has to make it so among the PEs.
func (s *Table) Take(off uintptr) bool {
	return s.slots[slotOf(off)].move(off, stateAbsent, stateHeld)
}

// GiveBack takes Take back: another PE has the lock.
func (s *Table) GiveBack(off uintptr) {
	if !s.slots[slotOf(off)].move(off, stateHeld, stateAbsent) {
		s.With(off, (*Queue).Left)
	}
}

// Leave does as Queue.Leave does for the lock at off.
func (s *Table) Leave(off uintptr, me *Waiter) (o Directive) {
	s.With(off, func(t *Queue) { o = t.Leave(me) })
	return o
}

// Try does as Queue.Try does for the lock at off.
func (s *Table) Try(off uintptr) (ok bool) {
	if s.slots[slotOf(off)].move(off, stateAbsent, stateBusy) {
		return true
	}
	s.With(off, func(t *Queue) { ok = t.Try() })
	return ok
}

// Release does as Queue.Release does for the lock at off.
func (s *Table) Release(off uintptr) (ok bool) {
	if s.slots[slotOf(off)].move(off, stateHeld, stateBusy) {
		return true
	}
	s.With(off, func(t *Queue) { ok = t.Release() })
	return ok
}

// Inherit does as Queue.Inherit does for the lock at off.
func (s *Table) Inherit(off uintptr) (ok bool) {
	s.With(off, func(t *Queue) { ok = t.Inherit() })
	return ok
}

// Acquired does as Queue.Acquired does for the lock at off.
func (s *Table) Acquired(off uintptr) {
	if !s.slots[slotOf(off)].move(off, stateBusy, stateHeld) {
		s.With(off, (*Queue).Acquired)
	}
}

// Left does as Queue.Left does for the lock at off.
func (s *Table) Left(off uintptr) {
	if !s.slots[slotOf(off)].move(off, stateBusy, stateAbsent) {
		s.With(off, (*Queue).Left)
	}
}

// Held returns the offset of a lock of the PE between two offsets, and whether there is one.
func (s *Table) Held(lo, hi uintptr) (off uintptr, ok bool) {
	for i := range s.slots {
		if v := s.slots[i].Load(); v != 0 && v != slotShared && slotState(v) == stateHeld {
			if off = uintptr(v &^ slotStates); lo <= off && off < hi {
				return off, true
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for off, q := range s.queues {
		if q.state == stateHeld && lo <= off && off < hi {
			return off, true
		}
	}
	return 0, false
}

// Orphaned does as Queue.Orphaned does for the lock at off.
func (s *Table) Orphaned(off uintptr) { s.With(off, (*Queue).Orphaned) }

// Abandon does as Queue.Abandon does, and reports whether the caller must start a proxy, which proxies counts.
func (s *Table) Abandon(off uintptr) (keep bool) {
	s.With(off, func(t *Queue) {
		switch {
		case t.Abandon():
		case s.closed:
			t.Orphaned()
		default:
			keep = true
			s.proxies++
		}
	})
	return keep
}

// ProxyDone records that a proxy has ended.
func (s *Table) ProxyDone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proxies--; s.proxies == 0 && s.drained != nil {
		close(s.drained)
	}
}

// Close makes Abandon ask for no more proxies. It returns nil if there are none, and otherwise a channel that is closed
// when the last proxy has ended.
func (s *Table) Close() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.proxies == 0 {
		return nil
	}
	s.drained = make(chan struct{})
	return s.drained
}
