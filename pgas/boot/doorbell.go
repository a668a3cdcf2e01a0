package boot

// The doorbell of a PE. A goroutine that waits for words of its PE's heap spins a little, publishes in Waiting which
// words it watches, and sleeps on the futex word Doorbell. After it has updated an atomic word or a signal, an updater
// reads Waiting and rings the doorbell if the word is watched. Updater and waiter each store one word and then load
// the other's, so both need a full fence in between: the updater has one in its locked instruction, the waiter in the
// store to Waiting. Without either fence, the updater could miss the waiter and the waiter the update. A goroutine that
// waits for members of a team on this host publishes that in WaitingForGroup, in the same way.
//
// A ring orders nothing for the program: a waiter looks at its words again. So the race detector does not see these
// words change: an update of any word of a PE would otherwise seem to come after all that the PE has done before it
// slept, and what a woken PE does after all that was done before the ring.

// AnyWord in State.Waiting: ring on every update.
const AnyWord = 1

// WatchWord returns the value of State.Waiting for the word at offset off. It is the offset of the aligned 8 bytes
// around the word, because an update of half of a watched 8-byte word must ring too.
func WatchWord(off uint64) uint64 { return off &^ 7 }

// WatchRange returns the value of State.Waiting for all words from offset lo up to hi, hi excluded. It is the offset of
// the smallest aligned range that contains them, of 8 (a WatchWord), 64, 512, … bytes up to 2 MiB, else AnyWord. The
// low three bits, which are 0 in a WatchWord, hold a third of the logarithm of the range's size: 2 for 64 bytes, 7 for
// 2 MiB.
func WatchRange(lo, hi uint64) uint64 {
	if WatchWord(lo) == WatchWord(hi-1) {
		return WatchWord(lo)
	}
	for third := uint64(2); third < 8; third++ {
		if lo>>(3*third) == (hi-1)>>(3*third) {
			return lo>>(3*third)<<(3*third) | third
		}
	}
	return AnyWord
}

// watches reports whether a waiter that has set Waiting to w must be woken when the word at off changes.
// The service thread of ucx/engine has the same rule.
func watches(w, off uint64) bool {
	switch third := w & 7; third {
	case 0:
		return w == WatchWord(off)
	case AnyWord:
		return true
	default:
		return (w^off)>>(3*third) == 0
	}
}

// Ring wakes the PE if it watches the word at off. The updater calls it after an atomic update of that word.
func (s *State) Ring(off uint64) {
	if w := s.Waiting.Load(); w != 0 {
		s.ringIfWatched(w, off)
	}
}

//go:noinline
func (s *State) ringIfWatched(w, off uint64) {
	if watches(w, off) {
		s.Wake()
	}
}

// RingGroup wakes the PE if it sleeps until members of a team on this host arrive. A member calls it after it has.
func (s *State) RingGroup() {
	if s.WaitingForGroup.Load() != 0 {
		s.Wake()
	}
}

// Wake wakes the PE, whichever words it watches.
func (s *State) Wake() {
	hideSync()
	s.Doorbell.Add(1)
	showSync()
	futexWake(&s.Doorbell)
}

// SetWaiting stores Waiting. It swaps, since a store that the race detector does not see has no fence behind it.
func (s *State) SetWaiting(w uint64) {
	hideSync()
	s.Waiting.Swap(w)
	showSync()
}

// AddWaitingForGroup adds n to WaitingForGroup.
func (s *State) AddWaitingForGroup(n int) {
	hideSync()
	s.WaitingForGroup.Add(uint64(n))
	showSync()
}

// Fail records that pe has died and how, a wait status or LostHow, and wakes all PEs of this host. If a PE has been
// recorded before, that record stays. A wait status replaces LostHow of the same PE.
func (s *Segment) Fail(pe int, how uint64) {
	s.failing.Lock()
	defer s.failing.Unlock()
	h := s.Header
	switch h.Failed.Load() {
	case 0:
		h.FailedHow.Store(how)
		h.Failed.Store(uint64(pe) + 1)
	case uint64(pe) + 1:
		h.FailedHow.CompareAndSwap(LostHow, how)
	}
	for _, st := range s.States {
		st.Wake()
	}
}
