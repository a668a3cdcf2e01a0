package locks

// foMPI-RW: the writer's number in the upper half of the word, the number of readers in the lower one. A
// writer compare-swaps the word from 0. A reader adds 1; if the word has a writer, the reader subtracts that
// again and polls until the writer has left. So readers overtake writers as long as there are readers.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

const writerShift = 32 // the writer stands above this bit of the word

// SpinRW is foMPI-RW. It guarantees exclusion only: readers can keep writers out for ever.
type SpinRW struct {
	spinner
	readers readers
}

var _ RWLock = (*SpinRW)(nil)

// NewSpinRW makes this PE's handle of the lock at ref.
func NewSpinRW(w *pgas.World, ref SpinStateRef, o SpinOptions) *SpinRW {
	return &SpinRW{spinner: newSpinner("NewSpinRW", w, ref, o)}
}

// AllocSpinRW allocates a lock and makes this PE's handle of it. It is collective. Errors: those of AllocSpinState.
func AllocSpinRW(ctx context.Context, w *pgas.World, o SpinOptions) (*SpinRW, error) {
	return allocate(ctx, w, AllocSpinState, func(ref SpinStateRef) (*SpinRW, error) { return NewSpinRW(w, ref, o), nil })
}

// Lock tries until this PE holds the lock alone. Errors: those of the interface Lock.
func (l *SpinRW) Lock(ctx context.Context) error {
	return l.lock(ctx, l, "to write under a spin lock")
}

func (l *SpinRW) acquire(ctx context.Context, way *passage) error { return l.insist(ctx, way, l.try) }

func (l *SpinRW) try() bool {
	return l.word.CompareSwap(l.home, 0, (int64(l.me)+1)<<writerShift) == 0
}

// TryLock tries once.
func (l *SpinRW) TryLock() bool { return l.tryLock(l) }

// Unlock removes the writer from the word. Readers that are about to find the writer stay counted.
func (l *SpinRW) Unlock() { l.unlock(l, "SpinRW.Unlock") }

func (l *SpinRW) release() { l.word.FetchAdd(l.home, -(int64(l.me)+1)<<writerShift) }

// RLock tries until no writer has the lock. Errors: those of the interface Lock.
func (l *SpinRW) RLock(ctx context.Context) (err error) {
	checkUsable(ctx, l.w)
	defer recoverPeer(&err)
	mustHaveAll(l.w)
	var way passage
	if err := l.share(ctx, &way); err != nil {
		return waitError("to read under a spin lock", err)
	}
	l.readers.acquired(&l.mutex)
	l.use.Count(way.waited, way.from)
	return nil
}

func (l *SpinRW) share(ctx context.Context, way *passage) error {
	if l.tryShare() {
		return nil
	}
	way.behind(-1)
	return l.insist(ctx, way, l.pollAndShare)
}

// pollAndShare only reads the word while it has a writer, since each change fails a compare-swap of another PE.
func (l *SpinRW) pollAndShare() bool {
	return l.word.Fetch(l.home)>>writerShift == 0 && l.tryShare()
}

func (l *SpinRW) tryShare() bool {
	if l.word.FetchAdd(l.home, 1)>>writerShift == 0 {
		return true
	}
	l.word.FetchAdd(l.home, -1)
	return false
}

// TryRLock tries once.
func (l *SpinRW) TryRLock() bool {
	checkMade(l.w)
	mustHaveAll(l.w)
	if !l.tryShare() {
		panicIfPeerDead(l.w)
		return false
	}
	l.readers.acquired(&l.mutex)
	l.use.Count(false, -1)
	return true
}

// RUnlock subtracts this reader.
func (l *SpinRW) RUnlock() { l.readers.unlock(&l.mutex, l, "SpinRW.RUnlock") }

func (l *SpinRW) unshare() { l.word.FetchAdd(l.home, -1) }

// Holder returns the writer that held the lock a moment ago.
func (l *SpinRW) Holder() (pe int, held bool) {
	v := l.word.Fetch(l.home) >> writerShift
	return int(v) - 1, v != 0
}
