package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestGroup: all functions run, also those that others start, and each PE's goroutines communicate with the others'.
func TestGroup(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 4)
		if err != nil {
			return err
		}
		next := (w.PE() + 1) % w.NPEs()
		g := w.Go(ctx)
		for i := range 4 {
			g.Go(func(ctx context.Context) error {
				word := pgas.AtomicOf(words, i)
				g.Go(func(context.Context) error {
					word.Add(next, 2)
					return nil
				})
				word.Add(next, 1)
				_, err := word.WaitUntil(ctx, pgas.EQ, 3)
				return err
			})
		}
		if err := errors.Join(g.Wait(), g.Wait()); err != nil {
			return err
		}
		return errors.Join(w.Go(ctx).Wait(), w.Barrier(ctx))
	})
}

// TestGroupFails: the first error comes out of Wait, and ends the waits of the others, which are for ever.
func TestGroupFails(t *testing.T) {
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		broken := errors.New("broken")
		wait := func(ctx context.Context) error {
			_, err := pgas.AtomicOf(words, 0).WaitUntil(ctx, pgas.EQ, 1)
			if !errors.Is(err, broken) {
				return fmt.Errorf("a wait that was ended returns %w", err)
			}
			return err
		}
		err = w.Go(ctx, wait, wait, func(ctx context.Context) error {
			w.Yield()
			return fmt.Errorf("a function: %w", broken)
		}).Wait()
		if err == nil || err.Error() != "a function: broken" {
			return fmt.Errorf("the group returns %w", err)
		}
		return w.Barrier(ctx)
	})
}

// TestGroupEnds: the end of the program's context ends the functions, and its cause comes out.
func TestGroupEnds(t *testing.T) {
	pgastest.RunAll(t, 1, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		why := errors.New("enough")
		ended, end := context.WithCancelCause(ctx)
		g := w.Go(ended, func(ctx context.Context) error {
			_, err := pgas.AtomicOf(words, 0).WaitUntil(ctx, pgas.EQ, 1)
			return err
		})
		w.Yield()
		end(why)
		if err := g.Wait(); !errors.Is(err, why) {
			return fmt.Errorf("the group returns %w", err)
		}
		return nil
	})
}

// TestGroupPanics: misuse is an error, another panic goes on with its stack, and Goexit is an error.
func TestGroupPanics(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		wait := func(ctx context.Context) error {
			_, err := pgas.AtomicOf(words, 0).WaitUntil(ctx, pgas.EQ, 1)
			return err
		}
		misuse := func(context.Context) error { words.At(7); return nil }
		if err := w.Go(ctx, wait, misuse).Wait(); !errors.As(err, new(*pgas.UsageError)) {
			return fmt.Errorf("misuse: %w", err)
		}
		exit := func(context.Context) error { runtime.Goexit(); return nil }
		if err := w.Go(ctx, wait, exit).Wait(); err == nil || !strings.Contains(err.Error(), "return an error instead") {
			return fmt.Errorf("Goexit: %w", err)
		}
		g := w.Go(ctx, wait, func(context.Context) error { panic("a bug of the program") })
		p, recovered := recoveredFrom(w, func() { g.Wait() })
		if text := fmt.Sprint(p); recovered != nil || !strings.Contains(text, "a bug of the program") || !strings.Contains(text, "group_test.go") {
			return fmt.Errorf("a panic: %v, recovered as %w", p, recovered)
		}
		for name, call := range map[string]func(){
			"no function":      func() { w.Go(ctx, nil) },
			"after Wait":       func() { g.Go(wait) },
			"of a zero World":  func() { new(pgas.World).Go(ctx) },
			"of a nil context": func() { w.Go(none) },
		} {
			if misuseIn(w, call) == nil {
				return fmt.Errorf("%s: no *UsageError", name)
			}
		}
		return nil
	})
}

// none is a context that a program has forgotten to make.
var none context.Context

// TestFreedPointerInGroup: with checking, a goroutine of a group that uses a freed pointer fails with the reason.
func TestFreedPointerInGroup(t *testing.T) {
	pgastest.RunProcesses(t, 1, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		p := words.Local()
		if err := words.Free(ctx); err != nil {
			return err
		}
		err = w.Go(ctx, func(context.Context) error { p[0] = 1; return nil }).Wait()
		if !errors.As(err, new(*pgas.UsageError)) {
			return fmt.Errorf("a store to freed memory: %w", err)
		}
		return nil
	}, "PGAS_CHECK=1")
}
