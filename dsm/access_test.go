package dsm_test

// What accesses to one element cost.

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// Accesses to elements that a PE has allocate nothing, whether a block holds a whole number of them or not.
func TestAccessesAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's code allocates")
	}
	for _, mode := range []dsm.Mode{dsm.Shared, dsm.Soft} {
		pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
			r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 2 << 15, Mode: mode})
			if err != nil {
				return err
			}
			if err := accessesAllocate(ctx, r, uint32(7)); err != nil {
				return err
			}
			if err := accessesAllocate(ctx, r, [3]byte{7}); err != nil {
				return err
			}
			a, err := dsm.Alloc[struct{}](ctx, r, 10)
			if err != nil {
				return err
			}
			a.At(9) // in no block
			return r.Close(ctx)
		})
	}
}

func accessesAllocate[T comparable](ctx context.Context, r *dsm.Region, v T) error {
	a, err := dsm.Alloc[T](ctx, r, 10)
	if err != nil {
		return err
	}
	a.Set(3, v)
	n := testing.AllocsPerRun(100, func() {
		a.Set(3, v)
		if a.At(3) != v || *a.Read(3) != *a.Write(3) {
			panic("an element is not what was set")
		}
	})
	if n != 0 {
		return fmt.Errorf("%T in mode %v: %v allocations", v, r.Mode(), n)
	}
	return nil
}
