package locklocal

// The seats of a PE, by lock. A lock that one goroutine at a time is near needs no seat: the stage of that is
// in a slot, which the lock shares with others by a hash of its offset, and changes by compare-swap. Once a
// second goroutine comes, or one to another lock of the slot, there are seats, and the slot says so until
// all of them are empty again.

import (
	"sync"
	"sync/atomic"
)

const (
	LockSlots  = 64
	slotStates = 7          // the bits of a slot that hold a stage; the others are the lock's offset
	SlotShared = ^uint64(0) // there are seats
)

// A fastState is 0 (nobody is near any of its locks), slotShared, or a lock's offset and its stage.
type fastState struct{ atomic.Uint64 }

func SlotOf(off uintptr) int { return int(uint64(off) / 8 * 0x9e3779b97f4a7c15 >> 58) }

func slotState(v uint64) State { return State(v & slotStates) }

func InSlot(off uintptr, s State) uint64 {
	if s == StateAway {
		return 0
	}
	return uint64(off) | uint64(s)
}

// move changes the stage of the lock at off, if the slot knows it to be in stage from.
func (l *fastState) move(off uintptr, from, to State) bool {
	return l.CompareAndSwap(InSlot(off, from), InSlot(off, to))
}

// lockTable is the seats of a PE that somebody sits in.
//
// Invariant: a slot is shared if and only if there are seats of its locks.
type Table struct {
	Slots   [LockSlots]fastState
	mu      sync.Mutex
	Queues  map[uintptr]*Queue // by the offset of the lock
	Used    [LockSlots]int     // how many of them each slot has
	spare   []*Queue
	closed  bool
	proxies int
	idle    chan struct{} // closed when there are none any more, if somebody waits for that
}

// With calls f with the seat of the lock at off, which is made for it and ends when nobody sits in it.
func (s *Table) With(off uintptr, f func(*Queue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := SlotOf(off)
	s.share(i)
	t := s.queueOf(off)
	f(t)
	if !t.empty() {
		return
	}
	delete(s.Queues, off)
	s.spare = append(s.spare, t)
	if s.Used[i]--; s.Used[i] == 0 {
		s.Slots[i].Store(0)
	}
}

// queueOf returns the seat of the lock at off, a new one if there is none.
func (s *Table) queueOf(off uintptr) *Queue {
	if t := s.Queues[off]; t != nil {
		return t
	}
	if s.Queues == nil {
		s.Queues = map[uintptr]*Queue{}
	}
	t := new(Queue)
	if n := len(s.spare); n > 0 {
		t, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	s.Queues[off] = t
	s.Used[SlotOf(off)]++
	return t
}

// share makes slot i shared, and a seat of what it knew.
func (s *Table) share(i int) {
	for {
		switch v := s.Slots[i].Load(); {
		case v == SlotShared:
			return
		case s.Slots[i].CompareAndSwap(v, SlotShared):
			if v != 0 {
				s.queueOf(uintptr(v &^ slotStates)).State = slotState(v)
			}
			return
		}
	}
}

func (s *Table) Join(off uintptr) (o Directive, me *Waiter) {
	if s.Slots[SlotOf(off)].move(off, StateAway, StateBusy) {
		return Enter, nil
	}
	s.With(off, func(t *Queue) { o, me = t.Join() })
	return o, me
}

func (s *Table) Leave(off uintptr, me *Waiter) (o Directive) {
	s.With(off, func(t *Queue) { o = t.Leave(me) })
	return o
}

func (s *Table) Try(off uintptr) (ok bool) {
	if s.Slots[SlotOf(off)].move(off, StateAway, StateBusy) {
		return true
	}
	s.With(off, func(t *Queue) { ok = t.Try() })
	return ok
}

func (s *Table) Release(off uintptr) (ok bool) {
	if s.Slots[SlotOf(off)].move(off, StateHeld, StateBusy) {
		return true
	}
	s.With(off, func(t *Queue) { ok = t.Release() })
	return ok
}

func (s *Table) Inherit(off uintptr) (ok bool) {
	s.With(off, func(t *Queue) { ok = t.Inherit() })
	return ok
}

func (s *Table) Acquired(off uintptr) {
	if !s.Slots[SlotOf(off)].move(off, StateBusy, StateHeld) {
		s.With(off, (*Queue).Acquired)
	}
}

func (s *Table) Left(off uintptr) {
	if !s.Slots[SlotOf(off)].move(off, StateBusy, StateAway) {
		s.With(off, (*Queue).Left)
	}
}

func (s *Table) Orphaned(off uintptr) { s.With(off, (*Queue).Orphaned) }

// Abandon reports whether a keeper must start; keepers counts it.
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

// ProxyDone is the end of a keeper.
func (s *Table) ProxyDone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proxies--; s.proxies == 0 && s.idle != nil {
		close(s.idle)
	}
}

// Close makes abandon start no more keepers. It returns nil if there are none, and otherwise a channel that is closed
// when the last one has ended.
func (s *Table) Close() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.proxies == 0 {
		return nil
	}
	s.idle = make(chan struct{})
	return s.idle
}
