package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// TestAtClose: functions run once, last first, while the World still works, and not if they have been withdrawn.
func TestAtClose(t *testing.T) {
	onEvery(t, 3, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		var ran []string
		next := (w.PE() + 1) % w.NPEs()
		run := func(name string) func() error {
			return func() error {
				ran = append(ran, name)
				words.At(0).Put(next, int64(len(ran)))
				words.At(1).Put(w.PE(), words.At(0).Get(next))
				return w.Quiet(ctx)
			}
		}
		w.AtClose(run("first"))
		forget := w.AtClose(run("withdrawn"))
		w.AtClose(func() error { w.AtClose(run("late")); return nil })
		w.AtClose(run("last"))
		if !forget() || forget() {
			return errors.New("forget does not report that it has withdrawn the function, once")
		}
		if err := w.Close(); err != nil {
			return err
		}
		if want := []string{"last", "late", "first"}; !slices.Equal(ran, want) {
			return fmt.Errorf("ran %v, want %v", ran, want)
		}
		if err := errors.Join(w.Close(), w.Abandon()); err != nil || len(ran) != 3 {
			return fmt.Errorf("closing again: %v, ran %v", err, ran)
		}
		return nil
	})
}

// TestAtCloseFails: the error of a function is that of Close or Abandon, and the other functions run all the same.
func TestAtCloseFails(t *testing.T) {
	onReal(t, 2, func(ctx context.Context, w *pgas.World) error {
		bad, ran := errors.New("bad"), 0
		w.AtClose(func() error { ran++; return nil })
		w.AtClose(func() error { ran++; return bad })
		w.AtClose(func() error { ran++; return errors.New("a later one") })
		if err := w.Close(); err == nil || err.Error() != "a later one" || ran != 3 {
			return fmt.Errorf("Close: %v, with %d functions run", err, ran)
		}
		return nil
	})
}

// TestAtCloseAfterFailure: functions run when a World is given up, too.
func TestAtCloseAfterFailure(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	ran := make([]int, 2)
	err := pgastest.Goroutines(ctx, 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		w.AtClose(func() error { ran[w.PE()]++; return nil })
		if w.PE() == 1 {
			return errors.New("planted")
		}
		return w.Barrier(ctx)
	})
	if err == nil || !slices.Equal(ran, []int{1, 1}) {
		t.Errorf("the job ended with %v, having run %v", err, ran)
	}
}
