package pgas_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

func TestRing(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			pgastest.RunAll(t, n, func(ctx context.Context, w *pgas.World) error {
				cells, err := pgas.Alloc[int64](ctx, w, 4)
				if err != nil {
					return err
				}
				next := (w.PE() + 1) % w.NPEs()
				cells.At(2).Put(next, int64(w.PE()+100))
				if err := w.Barrier(ctx); err != nil {
					return err
				}
				prev := (w.PE() - 1 + w.NPEs()) % w.NPEs()
				if got := cells.Local()[2]; got != int64(prev+100) {
					return fmt.Errorf("got %d", got)
				}
				for i := 0; i < 1000; i++ {
					pgas.AtomicOf(cells, 0).Inc(0)
					if err := w.Barrier(ctx); err != nil {
						return err
					}
				}
				if got := pgas.AtomicOf(cells, 0).Fetch(0); got != int64(1000*w.NPEs()) {
					return fmt.Errorf("sum %d", got)
				}
				return cells.Free(ctx)
			})
		})
	}
}
