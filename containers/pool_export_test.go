package containers

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// NewWorkPoolAt is NewWorkPool whose deques count tasks from start on.
func NewWorkPoolAt[T any](ctx context.Context, w *pgas.World, start uint32, capacity int, opts ...Option) (*WorkPool[T], error) {
	return newWorkPool[T](ctx, w, capacity, start, opts)
}

// PopOnce takes this member's newest task.
func (p *WorkPool[T]) PopOnce() (T, bool) { return p.pop() }

// StealOnce tries the other members once. What it gets beside the task returned is in this member's deque.
func (p *WorkPool[T]) StealOnce() (T, bool) { return p.steal() }
