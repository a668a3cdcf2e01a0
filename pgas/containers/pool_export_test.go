package containers

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// NewWorkPoolAt is NewWorkPool whose deques count tasks from start on.
func NewWorkPoolAt[T any](ctx context.Context, w *pgas.World, start uint32, capacity int, opts ...Option) (*WorkPool[T], error) {
	return newWorkPool[T](ctx, w, capacity, start, opts)
}
