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

// turns is the gate. The zero value is open.
//
// Invariant: line is not longer than n, less the one inside.
type turns struct {
	n    atomic.Int32 // goroutines at the gate: the one inside and those in line
	held atomic.Bool  // the one inside has the lock
	mu   sync.Mutex
	line []chan struct{} // closed when the turn has come
}

// enter waits for the turn. It returns an error if ctx ends first, or has ended.
func (t *turns) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if t.n.CompareAndSwap(0, 1) {
		return nil
	}
	t.mu.Lock()
	if t.n.Add(1) == 1 {
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	t.line = append(t.line, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		return t.withdraw(ctx, turn)
	}
}

// withdraw takes turn out of the line. One that has come meanwhile is taken.
func (t *turns) withdraw(ctx context.Context, turn chan struct{}) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.line, turn)
	if i < 0 {
		return nil
	}
	t.line = slices.Delete(t.line, i, i+1)
	t.n.Add(-1)
	return context.Cause(ctx)
}

// try enters if nobody is at the gate.
func (t *turns) try() bool { return t.n.CompareAndSwap(0, 1) }

// take calls try to get the lock for this goroutine, if no goroutine is at the gate. If a PE is dead, it panics
// where it would return false, and lets the next goroutine in.
func (t *turns) take(w *pgas.World, try func() bool) (ok bool) {
	if !t.try() {
		return false
	}
	defer func() {
		if !ok {
			t.leave()
		}
	}()
	if ok = try(); !ok {
		tellDeath(w)
		return false
	}
	t.got()
	return true
}

// leave lets the next one in.
func (t *turns) leave() {
	if t.n.CompareAndSwap(1, 0) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n.Add(-1)
	if len(t.line) > 0 {
		close(t.line[0])
		t.line = slices.Delete(t.line, 0, 1)
	}
}

// got says that the one inside has the lock.
func (t *turns) got() { t.held.Store(true) }

// release says that it gives it back, or panics if it has not got it.
func (t *turns) release(op string) {
	if !t.held.CompareAndSwap(true, false) {
		notHeld(op)
	}
}
