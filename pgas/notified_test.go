package pgas_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestNotifiedPutsAreAccesses: a notified put is where it belongs after whatever completes or orders a put,
// although its target has not looked at the notification.
//
//ci:ucx
func TestNotifiedPutsAreAccesses(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 8)
		if err != nil {
			return err
		}
		c, err := w.NewContext()
		if err != nil {
			return err
		}
		target, reader := 1, w.NPEs()-1
		got := notify.New(w, 0, notify.Any, 2)
		for round, complete := range []func(v int64) error{
			func(int64) error { return w.Quiet(ctx) },
			func(int64) error { return w.Context().QuietPE(ctx, target) },
			func(v int64) error { // ordered before a put, which is complete
				w.Fence()
				mem.At(0).Put(target, v)
				return w.Quiet(ctx)
			},
			func(v int64) error {
				w.Context().FencePE(target)
				mem.At(0).Put(target, v)
				return w.Quiet(ctx)
			},
			func(int64) error { return w.Barrier(ctx) },
		} {
			v := int64(round + 1)
			if w.PE() == 0 {
				mem.At(0).PutNotify(target, &v, round)
				mem.On(c).At(1).PutNotify(target, &v, round)
			}
			if w.PE() == 0 || round == 4 {
				if err := complete(v); err != nil {
					return err
				}
			}
			if err := c.Quiet(ctx); err != nil {
				return err
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if w.PE() == reader {
				if a, b := mem.At(0).Get(target), mem.At(1).Get(target); a != v || b != v {
					return fmt.Errorf("round %d: a third PE reads %d and %d, want %d", round, a, b, v)
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if w.PE() == target {
				mem.Local()[0] = -1 // a late copy would show
				got.Start()
				if _, err := got.Wait(ctx); err != nil {
					return err
				}
				if mem.Local()[0] != -1 {
					return fmt.Errorf("round %d: the put came again with its notification", round)
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return c.Close()
	}
	pgastest.Run(t, 3, body)
	t.Run("slow", func(t *testing.T) {
		if err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{NoFastPath: true}, body); err != nil {
			t.Fatal(err)
		}
	})
	pgastest.RunProcesses(t, 3, body, "PGAS_AMO=nic")
}

// TestSyncShowsNotifiedPuts: on one host a Sync makes what was put visible, as the stores that it is.
func TestSyncShowsNotifiedPuts(t *testing.T) {
	t.Setenv("PGAS_RACE", "plain") // on other transports it would be a mistake, which the race detector shows
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		r := notify.New(w, 1-w.PE(), 1, 1)
		for v := int64(1); v < 200; v++ {
			mem.At(0).PutNotify(1-w.PE(), &v, 1)
			if err := w.Sync(ctx); err != nil {
				return err
			}
			if got := mem.Local()[0]; got != v { //pgasvet:ok one host: a put is a store, which a sync shows
				return fmt.Errorf("after a sync the word is %d, want %d", got, v)
			}
			r.Start()
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
			if err := w.Sync(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
