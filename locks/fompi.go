package locks

// foMPI-Spin and foMPI-RW (rma-locks 5, "Comparison Targets"; the locks of the MPI library foMPI, which the paper
// measures against): one word on the home, which each PE that wants the lock tries to change repeatedly, with pauses
// that grow. They are the baseline of the other locks: under contention they load the home and are not fair;
// without contention nothing is simpler. The paper has no listing of them.
//
//	word   of the home's copy   Spin: 1 + the holder; 0: free
//	                            SpinRW: readers inside or about to check, and, above, 1 + the writer
//	waits  of a PE's own copy   the number of its goroutines that try, for Waiting; written by the owner
//	zero   of a PE's own copy   0. A pause is a wait for a change of it, which ends by time, or when a PE dies
//
// No PE knows of others that try. So giving up needs no protocol; what was added to the word is subtracted.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

//go:generate go tool pgasgen

// SpinState is a foMPI-Spin or foMPI-RW lock in symmetric memory, free when it is zero.
//
//pgas:symmetric views
type SpinState struct {
	Word  int64    `pgas:"atomic"` // of the home's copy; written by: all PEs
	_     [56]byte // the word has a cache line of its own
	Waits int64    `pgas:"atomic"` // written by: owner; read by: Waiting
	Never int64    `pgas:"atomic"` // never written; the owner pauses on it
}

// SpinOptions are the same on all PEs.
type SpinOptions struct {
	Home int // the PE that has the word
}

// The pauses between tries, in nanoseconds of World.Sleep. Between the first tries the PE only yields.
const (
	firstTries = 8
	firstPause = 1_000
	lastPause  = 64_000
)

// spinner is the common part of both locks.
type spinner struct {
	mutex
	me, home    int
	word, waits pgas.Atomic[int64]
	zero        pgas.Atomic[int64]
}

func newSpinner(op string, w *pgas.World, ref SpinStateRef, o SpinOptions) spinner {
	checkHome(op, w, o.Home)
	c := w.Context()
	return spinner{mutex: newMutex(w, ref.Ref(), "spin lock"), me: w.PE(), home: o.Home, word: ref.Word().On(c), waits: ref.Waits().On(c), zero: ref.Never().On(c)}
}

// insist calls try until it succeeds. Errors: *pgas.PeerError if a PE of the job dies, and the cause of ctx's end.
func (l *spinner) insist(ctx context.Context, way *passage, try func() bool) error {
	if try() {
		return nil
	}
	way.behind(-1)
	l.waits.FetchAdd(l.me, 1)
	defer l.waits.FetchAdd(l.me, -1)
	pause := int64(firstPause)
	for i := 0; ; i++ {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if i < firstTries {
			l.w.Yield()
		} else {
			// With a random pause a PE is not always later than a PE that has the same rhythm.
			part := pause/2 + int64(l.w.Random()%uint64(pause))/2
			if err := pauseFor(ctx, l.w, part, l.zero); err != nil {
				return err
			}
			pause = min(2*pause, lastPause)
		}
		if try() {
			return nil
		}
	}
}

// Waiting returns the number of PEs that were seen trying.
func (l *spinner) Waiting() int {
	return count(peekAll(l.w, l.waits), func(n int64) bool { return n != 0 })
}

// Spin is foMPI-Spin. It guarantees mutual exclusion only: no order, and PEs may starve.
type Spin struct{ spinner }

var _ Lock = (*Spin)(nil)

// NewSpin makes this PE's handle of the lock at ref.
func NewSpin(w *pgas.World, ref SpinStateRef, o SpinOptions) *Spin {
	return &Spin{newSpinner("NewSpin", w, ref, o)}
}

// AllocSpin allocates a lock and makes this PE's handle of it. It is collective. Errors: those of AllocSpinState.
func AllocSpin(ctx context.Context, w *pgas.World, o SpinOptions) (*Spin, error) {
	return allocate(ctx, w, AllocSpinState, func(ref SpinStateRef) (*Spin, error) { return NewSpin(w, ref, o), nil })
}

// Lock tries until this PE holds the lock. Errors: those of the interface Lock.
func (l *Spin) Lock(ctx context.Context) error { return l.lock(ctx, l, "for a spin lock") }

func (l *Spin) acquire(ctx context.Context, way *passage) error { return l.insist(ctx, way, l.try) }

func (l *Spin) try() bool { return l.word.CompareSwap(l.home, 0, int64(l.me)+1) == 0 }

// TryLock tries once.
func (l *Spin) TryLock() bool { return l.tryLock(l) }

// Unlock frees the lock.
func (l *Spin) Unlock() { l.unlock(l, "Spin.Unlock") }

func (l *Spin) release() { l.word.Swap(l.home, 0) }

// Holder returns the PE that held the lock a moment ago.
func (l *Spin) Holder() (pe int, held bool) {
	v := l.word.Fetch(l.home)
	return int(v) - 1, v != 0
}
