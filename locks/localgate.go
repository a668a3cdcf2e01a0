package locks

// The goroutines of a PE at one lock. They pass a gate one at a time, first come, first served; the goroutine
// inside runs the lock's protocol on behalf of its PE. This file does not touch symmetric memory, and nothing
// in it blocks where each PE has one goroutine, as in the simulator.

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// localGate admits one goroutine at a time. The zero value is open.
//
// Invariant: queue is not longer than present, less the goroutine inside.
type localGate struct {
	present atomic.Int32 // goroutines at the gate: the one inside and those in the queue
	held    bool         // the PE holds the lock; the goroutine inside uses it
	mu      sync.Mutex
	queue   []chan struct{} // a channel is closed when its goroutine may enter
}

// enter blocks until this goroutine is inside. It returns the cause of ctx's end if ctx ends first, or has ended.
func (g *localGate) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if g.tryEnter() {
		return nil
	}
	g.mu.Lock()
	if g.present.Add(1) == 1 {
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	g.queue = append(g.queue, turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		return g.withdraw(ctx, turn)
	}
}

// withdraw takes turn out of the queue and returns the cause of ctx's end. If the turn has come meanwhile, the
// goroutine is inside, and withdraw returns nil.
func (g *localGate) withdraw(ctx context.Context, turn chan struct{}) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.queue, turn)
	if i < 0 {
		return nil
	}
	g.queue = slices.Delete(g.queue, i, i+1)
	g.present.Add(-1)
	return context.Cause(ctx)
}

// tryEnter enters if no goroutine is at the gate, and reports whether it did.
func (g *localGate) tryEnter() bool { return g.present.CompareAndSwap(0, 1) }

// leave admits the next goroutine.
func (g *localGate) leave() {
	if !g.present.CompareAndSwap(1, 0) {
		g.admitNext()
	}
}

// admitNext is leave where other goroutines are at the gate, or have just been.
func (g *localGate) admitNext() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.present.Add(-1)
	if len(g.queue) > 0 {
		close(g.queue[0])
		g.queue = slices.Delete(g.queue, 0, 1)
	}
}

// acquired notes that the PE holds the lock.
func (g *localGate) acquired() { g.held = true }

// release notes that the PE does not hold the lock any more. It panics with *pgas.UsageError if the PE did not.
func (g *localGate) release(op string) {
	if !g.held {
		notHeld(op)
	}
	g.held = false
}

// A sharedProtocol is what a lock does between PEs for readers. It may panic with *pgas.PeerError.
type sharedProtocol interface {
	// blocks until the lock is shared with this PE; on an error it is not
	share(ctx context.Context, way *passage) error
	unshare() // ends what share began
}

// readers are the goroutines of a PE that read under one lock. While they wait they pass the gate one at a time;
// any number of them may hold the lock at once.
type readers struct {
	gate    localGate
	way     passage // how the goroutine inside the gate has got the lock
	holding atomic.Int64
}

// lock runs p.share at the gate, and counts this goroutine as a holder if that succeeds. Behind "waiting", what begins
// the text of errors. Errors: those of p, *pgas.PeerError if p panics with it, and the cause of ctx's end.
func (r *readers) lock(ctx context.Context, m *mutex, p sharedProtocol, what string) (err error) {
	checkUsable(ctx, m.w)
	if ctx.Err() != nil || !r.gate.tryEnter() { // tryEnter inlines
		if err := r.gate.enter(ctx); err != nil {
			return waitError(what, err)
		}
	}
	defer r.leave(&err)
	r.way.waited = false
	mustHaveAll(m.w)
	if err := p.share(ctx, &r.way); err != nil {
		return waitError(what, err)
	}
	r.acquired(m)
	m.use.Count(r.way.waited, r.way.from)
	return nil
}

// leave, deferred, opens the gate, and is recoverPeer.
func (r *readers) leave(err *error) {
	r.gate.leave()
	if p := recover(); p != nil {
		*err = peerErrorIn(p)
	}
}

// acquired counts one more holder of the lock of m.
func (r *readers) acquired(m *mutex) {
	r.holding.Add(1)
	if m.record != nil {
		m.record.trace.Shared(1)
	}
}

// unlock counts one holder less, completes what this PE has issued on its default context, and runs
// p.unshare. It panics with *pgas.UsageError if there was no holder.
func (r *readers) unlock(m *mutex, p sharedProtocol, op string) {
	if r.holding.Add(-1) < 0 {
		r.holding.Add(1)
		notHeld(op)
	}
	m.w.MustQuiet()
	if m.record != nil {
		m.record.trace.Shared(-1)
	}
	p.unshare()
}

// A spare is memory for one user at a time; further users at the same time allocate.
type spare[T any] struct{ p atomic.Pointer[T] }

func (s *spare[T]) take() *T {
	if p := s.p.Swap(nil); p != nil {
		return p
	}
	return new(T)
}

func (s *spare[T]) give(p *T) { s.p.Store(p) }
