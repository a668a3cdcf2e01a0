package pgas_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// passAlong lets a word go round the PEs: each waits for it behind the one before, takes it and hands it on.
func passAlong(ctx context.Context, w *pgas.World, rounds int) error {
	words, err := pgas.Alloc[int64](ctx, w, 2)
	if err != nil {
		return err
	}
	turn, steps := pgas.AtomicOf(words, 0), words.At(1)
	me, before, next := w.PE(), (w.PE()+w.NPEs()-1)%w.NPEs(), (w.PE()+1)%w.NPEs()
	if me == 0 {
		turn.Set(0, 1)
	}
	for round := range rounds {
		pe := before
		if round%2 == 1 {
			pe = -1 // not known
		}
		got, err := turn.WaitUntilPred(ctx, pgas.NE, 0, pe, 0)
		if err != nil {
			return err
		}
		if want := int64(round*w.NPEs() + me + 1); got != want || steps.Get(0) != want-1 {
			return fmt.Errorf("PE %d, round %d: told %d after %d steps, want %d", me, round, got, steps.Get(0), want)
		}
		steps.Put(0, got)
		turn.Set(me, 0)
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		turn.Set(next, got+1)
		w.YieldTo(next)
	}
	return w.Barrier(ctx)
}

//ci:ucx=nic
func TestWaitUntilPred(t *testing.T) {
	everywhere(t, 4, func(ctx context.Context, w *pgas.World) error { return passAlong(ctx, w, 50) })
	if !testing.Short() {
		pgastest.RunProcesses(t, 16, func(ctx context.Context, w *pgas.World) error { return passAlong(ctx, w, 20) })
	}
}

// TestWaitUntilPredEnds checks that a wait with a predecessor ends with its context, and that the predecessor must be
// a PE.
func TestWaitUntilPredEnds(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int32](ctx, w, 1)
		if err != nil {
			return err
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		word := pgas.AtomicOf(words, 0)
		if _, err := word.WaitUntilPred(over, pgas.EQ, 1, 1-w.PE(), 0); err == nil {
			return fmt.Errorf("a wait for what does not come ended without an error")
		}
		for _, pe := range []int{-2, 2} {
			err := misused(func() error {
				_, err := word.WaitUntilPred(over, pgas.EQ, 1, pe, 0)
				return err
			})
			if err == nil || !strings.Contains(err.Error(), "out of range: this job has PEs 0 to 1") {
				return fmt.Errorf("behind PE %d: %v", pe, err)
			}
		}
		return w.Barrier(ctx)
	})
}
