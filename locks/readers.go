package locks

// The readers of a PE at one lock. While they wait they pass a gate one at a time, as in turns.go; inside
// there may be any number.

import (
	"context"
	"sync/atomic"
)

// readers is the gate, and how many are inside.
type readers struct {
	gate   localGate
	inside atomic.Int64
}

func (r *readers) enter(ctx context.Context) error { return r.gate.enter(ctx) }
func (r *readers) tryEnter() bool                  { return r.gate.tryEnter() }
func (r *readers) leave()                          { r.gate.leave() }
func (r *readers) acquired()                       { r.inside.Add(1) }

// release says that one gives the lock back, or panics if nobody has got it.
func (r *readers) release(op string) {
	if r.inside.Add(-1) < 0 {
		r.inside.Add(1)
		notHeld(op)
	}
}

// A spare is memory that one at a time uses, and others have to allocate.
type spare[T any] struct{ p atomic.Pointer[T] }

func (s *spare[T]) take() *T {
	if p := s.p.Swap(nil); p != nil {
		return p
	}
	return new(T)
}

func (s *spare[T]) give(p *T) { s.p.Store(p) }
