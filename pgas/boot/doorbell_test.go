package boot

import (
	"math/rand/v2"
	"testing"
)

// TestWatchRange checks that an update of any word of a range wakes its waiter, that the watched range is the smallest
// possible, and that an update outside of it wakes no waiter.
func TestWatchRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		lo := 4 * (2 + rng.Uint64N(1<<rng.Uint64N(30)))
		hi := lo + 4*(1+rng.Uint64N(1<<rng.Uint64N(22)))
		w := WatchRange(lo, hi)
		for _, off := range []uint64{lo, hi - 4, lo + (hi-lo)/2&^3} {
			if !watches(w, off) {
				t.Fatalf("WatchRange(%d, %d) is %#x, which does not cover %d", lo, hi, w, off)
			}
		}
		size := uint64(8)
		for lo/size != (hi-1)/size {
			size *= 8
		}
		if size > 2<<20 {
			if w != AnyWord {
				t.Fatalf("WatchRange(%d, %d) is %#x, not AnyWord", lo, hi, w)
			}
			continue
		}
		start := lo / size * size
		for off, want := range map[uint64]bool{start: true, start + size - 4: true, start + size: false, start - 4: false} {
			if watches(w, off) != want {
				t.Fatalf("WatchRange(%d, %d) is %#x, and covers %d: %v", lo, hi, w, off, !want)
			}
		}
	}
}

// TestWatchRangeIsNoOtherValue checks that a range is not 0, which is a PE that is awake.
func TestWatchRangeIsNoOtherValue(t *testing.T) {
	for _, r := range [][2]uint64{{16, 24}, {64, 72}, {8, 32}, {4, 1 << 20}, {1 << 20, 1 << 21}, {1<<21 - 8, 1<<21 + 8}} {
		if w := WatchRange(r[0], r[1]); w == 0 {
			t.Errorf("WatchRange(%d, %d) is %d", r[0], r[1], w)
		}
	}
}
