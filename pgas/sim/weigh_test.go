package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// weighing is body after it has made the bytes of words from lo to hi count n times.
func weighing(lo, hi, n int, body transfer) transfer {
	return func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
		part := words.Range(lo, hi)
		if err := sim.Weigh(ctx, part.Offset(), part.Offset()+8*uint64(hi-lo), n); err != nil {
			return err
		}
		return body(ctx, w, words)
	}
}

type transfer = func(context.Context, *pgas.World, pgas.Sym[int64]) error

// TestWeigh: an operation on weighed bytes takes as long as one on as many plain bytes as they count for.
func TestWeigh(t *testing.T) {
	put := func(pe, lo, n int) transfer {
		return func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			words.Range(lo, lo+n).Put(pe, make([]int64, n))
			return w.Quiet(ctx)
		}
	}
	get := func(pe, lo, n int) transfer {
		return func(_ context.Context, _ *pgas.World, words pgas.Sym[int64]) error {
			words.Range(lo, lo+n).Get(pe, make([]int64, n))
			return nil
		}
	}
	putThenAdd := func(pe, lo, n int) transfer {
		return func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
			sig := pgas.AtomicOf(words, 999)
			words.Range(lo, lo+n).PutNB(pe, make([]int64, n))
			sig.Add(pe, 1)
			return w.Quiet(ctx)
		}
	}
	for name, op := range map[string]func(pe, lo, n int) transfer{"put": put, "get": get, "put and atomic": putThenAdd} {
		for where, pe := range map[string]int{"the rack": 4, "another rack": 8, "the host": 2} {
			t.Run(name+" in "+where, func(t *testing.T) {
				for _, c := range []struct {
					what          string
					plain, weighs transfer
				}{
					{"all of it", op(pe, 0, 500), weighing(0, 5, 100, op(pe, 0, 5))},
					{"the end of it", op(pe, 0, 205), weighing(5, 10, 40, op(pe, 0, 10))},
					{"none of it", op(pe, 0, 10), weighing(10, 500, 100, op(pe, 0, 10))},
					{"a count of 1", op(pe, 0, 10), weighing(0, 500, 1, op(pe, 0, 10))},
				} {
					plain, weighed := took(t, sim.Config{}, c.plain), took(t, sim.Config{}, c.weighs)
					if plain != weighed {
						t.Errorf("%s: %v, and %v weighed", c.what, plain, weighed)
					}
				}
			})
		}
	}
}

// TestWeighRefuses: what cannot be weighed is an error that says so. The same call on another PE is none.
func TestWeighRefuses(t *testing.T) {
	if err := sim.Weigh(t.Context(), 0, 8, 2); err == nil || !strings.Contains(err.Error(), "simulated PE") {
		t.Errorf("outside of a simulation: %v", err)
	}
	_, err := sim.Run(t.Context(), sim.Config{}, 3, func(ctx context.Context, w *pgas.World) error {
		const lo = 20 << 20
		if err := errors.Join(sim.Weigh(ctx, lo, lo+64, 7), sim.Weigh(ctx, lo+64, lo+128, 3), sim.Weigh(ctx, lo, lo+64, 7)); err != nil {
			return err
		}
		for _, bad := range []struct {
			lo, hi uint64
			n      int
			want   string
		}{
			{lo, lo + 8, 0, "counts as 1 or more"},
			{lo, lo, 2, "not a range"},
			{lo, 1 << 40, 2, "not a range"},
			{lo + 8, lo + 16, 8, "weigh each byte once"},
		} {
			if err := sim.Weigh(ctx, bad.lo, bad.hi, bad.n); err == nil || !strings.Contains(err.Error(), bad.want) {
				return fmt.Errorf("Weigh(%d, %d, %d): %v", bad.lo, bad.hi, bad.n, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
