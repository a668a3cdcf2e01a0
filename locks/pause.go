package locks

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// pauseFor blocks for some nanoseconds of w's clock. It is a wait for never, which is 0 and stays it, and so
// fails when a PE of the job dies.
func pauseFor(ctx context.Context, w *pgas.World, ns int64, zero pgas.Atomic[int64]) error {
	return pauseOn(ctx, w, time.Duration(ns), zero, 0)
}
