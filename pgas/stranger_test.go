package pgas_test

// Goroutines and Worlds used in the wrong place.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/sim"
)

func endsItsGoroutine(ctx context.Context, w *pgas.World) error {
	if w.PE() == 1 {
		runtime.Goexit()
	}
	return w.Barrier(context.Background()) //pgasvet:ok the job ends before this context
}

// A body that ends its goroutine ends the job, with a line that says so.
func TestGoexit(t *testing.T) {
	asPE(t, endsItsGoroutine)
	const want = "the body has ended its goroutine"
	res, _, errs := startJob(t, "TestGoexit", []boot.Host{{Name: launch.Local, PEs: 3}})
	if res.Status != 1 || !strings.Contains(errs, "pgas: PE 1 on localhost: Main: "+want) {
		t.Errorf("status %d: %s", res.Status, errs)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	if err := pgastest.Goroutines(ctx, 3, pgastest.Options{}, endsItsGoroutine); err == nil || !strings.Contains(err.Error(), "PE 1: "+want) {
		t.Errorf("the job ended with %v", err)
	}
}

// Two goroutines of a PE in one barrier: one of them panics.
func TestTwoInBarrier(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		if w.PE() != 0 {
			err := w.Barrier(ctx)
			return errors.Join(err, w.Barrier(ctx)) //pgasvet:ok tests the misuse
		}
		var in sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			in.Go(func() { errs[i] = misusedOr(func() error { return w.Barrier(ctx) }) })
		}
		in.Wait()
		for _, err := range errs {
			var misuse *pgas.UsageError
			if errors.As(err, &misuse) && strings.Contains(misuse.Msg, "is in another collective") {
				return w.Barrier(ctx)
			}
		}
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("not told: %w", err)
		}
		return nil // they took turns after all
	}
	for range 20 {
		pgastest.RunGoroutines(t, 2, body)
	}
}

// misusedOr returns call's error, or the *UsageError that it panics with.
func misusedOr(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(*pgas.UsageError)
		}
	}()
	return call()
}

// In the simulator a PE is one thread of control. A goroutine that waits gets an error, and so does one that
// enters a barrier that the PE is in already.
func TestGoroutineInSim(t *testing.T) {
	for name, tt := range map[string]struct {
		call func(ctx context.Context, w *pgas.World, word pgas.Atomic[int64]) error
		want string
	}{
		"barrier": {func(ctx context.Context, w *pgas.World, _ pgas.Atomic[int64]) error { return w.Barrier(ctx) }, "is in another collective"},
		"wait": {func(ctx context.Context, _ *pgas.World, word pgas.Atomic[int64]) error {
			_, err := word.WaitUntil(ctx, pgas.EQ, 1)
			return err
		}, "a goroutine that the program has started"},
	} {
		var world *pgas.World // of PE 0
		var word pgas.Atomic[int64]
		_, err := sim.Run(t.Context(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
			words, err := pgas.Alloc[int64](ctx, w, 1)
			if err != nil {
				return err
			}
			if w.PE() == 0 {
				world, word = w, pgas.AtomicOf(words, 0)
				return w.Barrier(ctx)
			}
			if err := w.Sleep(ctx, time.Millisecond); err != nil { // PE 0 is in the barrier then
				return err
			}
			told := make(chan error)
			go func() { told <- misusedOr(func() error { return tt.call(ctx, world, word) }) }()
			err = <-told
			var misuse *pgas.UsageError
			if !errors.As(err, &misuse) || !strings.Contains(misuse.Msg, tt.want) {
				return fmt.Errorf("the goroutine got %v", err)
			}
			return w.Barrier(ctx)
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A reduction does not take memory of another World.
func TestOtherWorld(t *testing.T) {
	var mu sync.Mutex
	slices := map[int]pgas.Slice[int64]{}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	err := pgastest.Goroutines(ctx, 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		mu.Lock()
		slices[w.PE()] = s.All()
		mu.Unlock()
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		mu.Lock()
		others := slices[1-w.PE()]
		mu.Unlock()
		for name, call := range map[string]func() error{
			"reduction": func() error { return pgas.SumReduce(ctx, w.Team(), s.Range(0, 1), others.Range(1, 2)) },
			"scan":      func() error { return pgas.SumInscan(ctx, w.Team(), others.Range(0, 1), s.Range(1, 2)) },
			"broadcast": func() error { return pgas.Broadcast(ctx, w.Team(), s.Range(0, 1), others.Range(1, 2), 0) },
		} {
			err := misused(call)
			if err == nil || !strings.Contains(err.Error(), "another World") {
				return fmt.Errorf("%s with memory of another World: %v", name, err)
			}
		}
		return w.Barrier(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}
