package locks

// The goroutines of a PE at one lock. They pass a gate one at a time, in the order in which they came; the
// one inside deals with the lock, for the others too. Nothing here touches symmetric memory, and nothing
// blocks where each PE has one goroutine, as in the simulator.

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas"
)

// localGate is the gate. The zero value is open.
//
// Invariant: line is not longer than n, less the one inside.
type localGate struct {
	present atomic.Int32 // goroutines at the gate: the one inside and those in line
	held    atomic.Bool  // the one inside has the lock
	mu      sync.Mutex
	queue   []chan struct{} // closed when the turn has come
}

// enter waits for the turn. It returns an error if ctx ends first, or has ended.
func (t *localGate) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if t.present.CompareAndSwap(0, 1) {
		return nil
	}
	t.mu.Lock()
	if t.present.Add(1) == 1 {
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	t.queue = append(t.queue, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		return t.withdraw(ctx, turn)
	}
}

// withdraw takes turn out of the line. One that has come meanwhile is taken.
func (t *localGate) withdraw(ctx context.Context, turn chan struct{}) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.queue, turn)
	if i < 0 {
		return nil
	}
	t.queue = slices.Delete(t.queue, i, i+1)
	t.present.Add(-1)
	return context.Cause(ctx)
}

// tryEnter enters if nobody is at the gate.
func (t *localGate) tryEnter() bool { return t.present.CompareAndSwap(0, 1) }

// takeIf calls try to get the lock for this goroutine, if no goroutine is at the gate. If a PE is dead, it panics
// where it would return false, and lets the next goroutine in.
func (t *localGate) takeIf(w *pgas.World, try func() bool) (ok bool) {
	if !t.tryEnter() {
		return false
	}
	defer func() {
		if !ok {
			t.leave()
		}
	}()
	if ok = try(); !ok {
		panicIfPeerDead(w)
		return false
	}
	t.acquired()
	return true
}

// leave lets the next one in.
func (t *localGate) leave() {
	if t.present.CompareAndSwap(1, 0) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.present.Add(-1)
	if len(t.queue) > 0 {
		close(t.queue[0])
		t.queue = slices.Delete(t.queue, 0, 1)
	}
}

// acquired says that the one inside has the lock.
func (t *localGate) acquired() { t.held.Store(true) }

// release says that it gives it back, or panics if it has not got it.
func (t *localGate) release(op string) {
	if !t.held.CompareAndSwap(true, false) {
		notHeld(op)
	}
}
