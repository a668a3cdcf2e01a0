package boot

// The doorbell of a PE. A goroutine that waits for words of its own heap spins a little and then
// sleeps on the futex word Doorbell; whoever updates an atomic word or a signal looks at Waiting
// afterwards and rings if it must. Both sides are store-then-load of two words, so both need a full
// fence between the two: the updater has one in its locked instruction, the sleeper in the store to
// Waiting. Without either, the updater could miss the sleeper and the sleeper the update.

const (
	// AnyWord in State.Waiting: ring on every update.
	AnyWord = 1
	// BarrierWord in State.Waiting: the PE sleeps in a barrier of this host, whose words are not in
	// its heap; updates of its data must not wake it.
	BarrierWord = 8
)

// WatchWord is what State.Waiting holds for the word at offset off: an update of half of a sleeping
// 8-byte word must ring too.
func WatchWord(off uint64) uint64 { return off &^ 7 }

// WatchRange is what State.Waiting holds for all words from offset lo up to hi, hi excluded: the smallest
// aligned block that they fit in, of 8 (a WatchWord), 64, 512, … bytes up to 2 MiB, else AnyWord. The low
// three bits, which a WatchWord has no use for, are a third of the block's logarithm: 64 is 2, 2 MiB is 7.
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

// watches says whether a sleeper that has set Waiting to w must look when the word at off changes.
// The service of ucx/engine has the same rule.
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

// Ring wakes the PE if it sleeps on the word at off. Call it after an atomic update of that word.
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

// Wake wakes the PE whatever it sleeps on.
func (s *State) Wake() {
	s.Doorbell.Add(1)
	futexWake(&s.Doorbell)
}

// Fail records that pe has died with the given wait status, unless another PE has before, and wakes all PEs of
// this host. A later, more exact status replaces LostHow.
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
