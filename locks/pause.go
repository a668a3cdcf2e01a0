package locks

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// pauseFor blocks for some nanoseconds of w's clock. Protocols know no other.
func pauseFor(ctx context.Context, w *pgas.World, ns int64) error {
	return w.Sleep(ctx, time.Duration(ns))
}
