package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestClock: time, chance and deadlines as the World has them, on every kind of PE.
func TestClock(t *testing.T) {
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		const nap = 2 * time.Millisecond
		start := w.Now()
		if err := w.Sleep(ctx, nap); err != nil {
			return err
		}
		if d := w.Now() - start; d < nap {
			return fmt.Errorf("a sleep of %v took %v", nap, d)
		}
		w.Yield()
		seen := map[uint64]bool{}
		for range 100 {
			seen[w.Random()] = true
		}
		if len(seen) != 100 {
			return fmt.Errorf("%d of 100 random numbers differ", len(seen))
		}
		until, cancel := w.WithTimeout(ctx, nap)
		defer cancel()
		if err := w.Sleep(until, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("a sleep past its deadline ended with %v", err)
		}
		return w.Barrier(ctx)
	})
}

// TestByCPU: atomics by the CPU and by the network, on words that only one of them updates at a time.
//
//ci:ucx=nic
func TestByCPU(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		c, err := w.NewContext(pgas.ByCPU())
		if err != nil {
			return err
		}
		word, other := pgas.AtomicOf(words, 0), (w.PE()+1)%w.NPEs()
		for range 10 {
			word.On(c).FetchAdd(other, 1)
		}
		if err := errors.Join(c.Quiet(ctx), w.Barrier(ctx)); err != nil {
			return err
		}
		for range 10 {
			word.FetchAdd(other, 1)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if got := word.On(c).Fetch(w.PE()); got != 20 {
			return fmt.Errorf("the word is %d, want 20", got)
		}
		return c.Close()
	}
	pgastest.RunAll(t, 3, body)
	pgastest.RunNIC(t, 2, body)
}

// TestSleepWithDeadPeer: whoever sleeps when a PE dies is told its name, long before the sleep is over.
func TestSleepWithDeadPeer(t *testing.T) {
	var got error
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 1 {
			return errLeaveEarly
		}
		got = w.Sleep(ctx, time.Hour)
		return got
	})
	var peer *pgas.PeerError
	if !errors.Is(err, errLeaveEarly) || !errors.As(got, &peer) || peer.PE != 1 {
		t.Fatalf("the sleep ended with %v, the job with %v", got, err)
	}
}
