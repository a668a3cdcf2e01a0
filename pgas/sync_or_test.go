package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// TestSyncOr: each PE's bits reach every PE, and those of one call do not show in the next.
func TestSyncOr(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		for round := range 40 {
			word, want := uint64(0), uint64(0)
			if round%3 != 0 {
				word, want = 1<<w.PE()<<(8*(round%5)), (1<<w.NPEs()-1)<<(8*(round%5))
			}
			got, err := w.SyncOr(ctx, word)
			if err != nil {
				return err
			}
			if got != want {
				return fmt.Errorf("PE %d, round %d: got %#x, want %#x", w.PE(), round, got, want)
			}
			if round%4 == 0 {
				if err := w.Barrier(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	}
	pgastest.RunAll(t, 2, body)
	pgastest.RunAll(t, 5, body)
}

// TestSyncOrMismatch: a barrier is another call.
func TestSyncOrMismatch(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	err := pgastest.Goroutines(ctx, 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 0 {
			return w.Barrier(ctx) //pgasvet:ok tests the mismatch
		}
		_, err := w.SyncOr(ctx, 1)
		return err
	})
	if _, ok := errors.AsType[*pgas.MismatchError](err); !ok {
		t.Fatalf("got %v, want a MismatchError", err)
	}
}
