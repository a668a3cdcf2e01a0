package coll_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestCallsWithoutEnd: the numbers of a team's calls and boxes have 48 and 64 bits: neither those with 16 nor those
// with 32 bits are special. A team that makes a call each microsecond has used up the 48 after nine years.
func TestCallsWithoutEnd(t *testing.T) {
	pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		for _, n := range []uint64{1<<16 - 40, 1<<31 - 40, 1<<32 - 40, 1<<47 - 40} {
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			private.Group(w.Team()).SetCalls(n)
			for i := range 60 {
				if err := sumsUp(ctx, w, words, i); err != nil {
					return fmt.Errorf("call %d after %d: %w", i, n, err)
				}
			}
		}
		return nil
	})
}

func sumsUp(ctx context.Context, w *pgas.World, words pgas.Sym[int64], i int) error {
	*words.At(0).Local() = int64(w.PE() + i)
	if err := pgas.SumReduce(ctx, w.Team(), words.Range(1, 2), words.Range(0, 1)); err != nil {
		return err
	}
	npes := w.NPEs()
	if got, want := words.At(1).Get(w.PE()), int64(npes*(npes-1)/2+i*npes); got != want {
		return fmt.Errorf("the sum is %d, want %d", got, want)
	}
	return w.Barrier(ctx)
}
