package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

type state uint8

const (
	idle state = iota
	busy
	lost state = 255
)

type phase int16

// trySmall has all PEs update neighbouring elements of PE 0, each its own, so that updates that lose another's value
// are found.
func trySmall[E pgas.Small](ctx context.Context, w *pgas.World, values []E) error {
	s, err := pgas.Alloc[E](ctx, w, w.NPEs())
	if err != nil {
		return err
	}
	mine := pgas.AtomicSmallOf(s, w.PE())
	var old E
	for round := range 30 {
		v := values[round%len(values)]
		switch round % 3 {
		case 0:
			mine.Set(0, v)
		case 1:
			if got := mine.Swap(0, v); got != old {
				return fmt.Errorf("PE %d, round %d: swapped out %v, want %v", w.PE(), round, got, old)
			}
		case 2:
			wrong := values[(round+1)%len(values)]
			if wrong != old {
				if got := mine.CompareSwap(0, wrong, wrong); got != old {
					return fmt.Errorf("PE %d, round %d: compared with %v, got %v, want %v", w.PE(), round, wrong, got, old)
				}
			}
			if got := mine.CompareSwap(0, old, v); got != old {
				return fmt.Errorf("PE %d, round %d: compare-swap got %v, want %v", w.PE(), round, got, old)
			}
		}
		old = v
		if got := mine.Fetch(0); got != old {
			return fmt.Errorf("PE %d, round %d: fetched %v, want %v", w.PE(), round, got, old)
		}
	}
	return w.Barrier(ctx)
}

// TestAtomicSmall: neighbours in a word do not disturb each other.
//
//ci:ucx
func TestAtomicSmall(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		return errors.Join(trySmall(ctx, w, []bool{true, false}), trySmall(ctx, w, []state{busy, lost, idle, 7}),
			trySmall(ctx, w, []phase{-1, 0, 1000, -32768}))
	}
	pgastest.RunAll(t, 5, body)
	pgastest.RunNIC(t, 3, body)
}

// TestAtomicSmallWait: a wait sees the value that it waits for among other changes of the word, and a context that
// ends.
func TestAtomicSmallWait(t *testing.T) {
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[state](ctx, w, 4)
		if err != nil {
			return err
		}
		other := 1 - w.PE()
		for range 10 {
			for i := range 4 {
				pgas.AtomicSmallOf(s, (i+2)%4).Set(other, busy)
			}
			if err := pgas.AtomicSmallOf(s, 1).WaitUntil(ctx, busy); err != nil { // the last to come
				return err
			}
			for i := range 4 {
				if !pgas.AtomicSmallOf(s, i).Test(busy) && i != 1 {
					if err := pgas.AtomicSmallOf(s, i).WaitUntil(ctx, busy); err != nil {
						return err
					}
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			for i := range 4 {
				pgas.AtomicSmallOf(s, i).Set(w.PE(), idle)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := pgas.AtomicSmallOf(s, 0).WaitUntil(ended, idle); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("a wait for what is true, after the end of the context: %v", err)
		}
		return nil
	})
}
