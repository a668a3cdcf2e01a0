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

func TestWaitComparisons(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		signed, err := pgas.Alloc[int32](ctx, w, 1)
		if err != nil {
			return err
		}
		unsigned, err := pgas.Alloc[uint32](ctx, w, 1)
		if err != nil {
			return err
		}
		pgas.AtomicOf(signed, 0).Set(0, -5)
		pgas.AtomicOf(unsigned, 0).Set(0, 0xfffffffb) // the same bits
		for _, c := range []struct {
			cmp                   pgas.Cmp
			small, equal, greater bool // against -6 or 1, itself, and 3
		}{
			{pgas.EQ, false, true, false},
			{pgas.NE, true, false, true},
			{pgas.GT, true, false, false},
			{pgas.GE, true, true, false},
			{pgas.LT, false, false, true},
			{pgas.LE, false, true, true},
		} {
			s, u := pgas.AtomicOf(signed, 0), pgas.AtomicOf(unsigned, 0)
			if s.Test(c.cmp, -6) != c.small || s.Test(c.cmp, -5) != c.equal || s.Test(c.cmp, 3) != c.greater {
				return fmt.Errorf("-5 %s -6, -5, 3: %v %v %v", c.cmp, s.Test(c.cmp, -6), s.Test(c.cmp, -5), s.Test(c.cmp, 3))
			}
			if u.Test(c.cmp, 1) != c.small || u.Test(c.cmp, 0xfffffffb) != c.equal || u.Test(c.cmp, 0xffffffff) != c.greater {
				return fmt.Errorf("unsigned comparison %s treats the word as signed", c.cmp)
			}
		}
		return nil
	})
}

// TestWakeFromSleep checks that an update after a long while wakes the waiter, whether another PE or a goroutine of
// the same PE makes it.
func TestWakeFromSleep(t *testing.T) {
	onReal(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 4)
		if err != nil {
			return err
		}
		remote, own := pgas.AtomicOf(s, 0), pgas.AtomicOf(s, 1)
		if w.PE() == 0 {
			time.Sleep(60 * time.Millisecond)
			remote.Add(1, 3)
			if err := w.Quiet(ctx); err != nil {
				return err
			}
			return w.Barrier(ctx)
		}
		done := make(chan error, 2)
		go func() {
			time.Sleep(30 * time.Millisecond)
			done <- panicOf(func() { own.Set(1, 9) })
		}()
		go func() {
			v, err := own.WaitUntil(ctx, pgas.NE, 0)
			if err == nil && v != 9 {
				err = fmt.Errorf("woken with %d", v)
			}
			done <- err
		}()
		if v, err := remote.WaitUntil(ctx, pgas.GT, 2); err != nil || v != 3 {
			return fmt.Errorf("woken with %d, %w", v, err)
		}
		for range cap(done) {
			if err := <-done; err != nil {
				return err
			}
		}
		return w.Barrier(ctx)
	})
}

// TestCancelledWait: a wait ends with its context, says what it waited for, and harms nothing.
func TestCancelledWait(t *testing.T) {
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		word := pgas.AtomicOf(s, 0)
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		if _, err := word.WaitUntil(short, pgas.EQ, 1); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the wait ended with %v", err)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		word.Set(1-w.PE(), 1)
		_, err = word.WaitUntil(ctx, pgas.EQ, 1)
		return err
	})
}

// TestCancelledBarrier checks that no PE waits for ever for a PE that does not enter a barrier.
func TestCancelledBarrier(t *testing.T) {
	over := make(chan struct{})
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 1 {
			<-over
			return nil
		}
		defer close(over)
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		err := w.Barrier(short)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the barrier ended with %v", err)
		}
		return errLeaveEarly
	})
	if !errors.Is(err, errLeaveEarly) {
		t.Fatal(err)
	}
}

var errLeaveEarly = errors.New("leaves early")

// TestDeadPeer checks that a wait for a PE that has failed returns an error that names that PE.
func TestDeadPeer(t *testing.T) {
	var got error
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 1 {
			return errLeaveEarly
		}
		got = w.Barrier(ctx)
		return got
	})
	if !errors.Is(err, errLeaveEarly) {
		t.Fatalf("the root cause is lost: %v", err)
	}
	var peer *pgas.PeerError
	if !errors.As(got, &peer) || peer.PE != 1 || peer.Host == "" || peer.Err == nil {
		t.Fatalf("the barrier returned %v, not a *PeerError about PE 1", got)
	}
}

// TestDeathBeforeEndedContext: a wait whose context has ended still returns the *PeerError of a dead PE.
// Otherwise a caller that polls with short waits in between would never learn of the death.
func TestDeathBeforeEndedContext(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil || w.PE() == 1 {
			return errors.Join(err, errLeaveEarly)
		}
		word := pgas.AtomicOf(s, 0)
		_, known := word.WaitUntil(ctx, pgas.NE, 0)
		over, cancel := context.WithCancelCause(ctx)
		cancel(errors.New("the moment is over"))
		_, waited := word.WaitUntil(over, pgas.NE, 0)
		for what, err := range map[string]error{"a wait": known, "a wait with an ended context": waited, "a sleep": w.Sleep(over, time.Hour)} {
			var peer *pgas.PeerError
			if !errors.As(err, &peer) || peer.PE != 1 {
				t.Errorf("%s returned %v, not a *PeerError about PE 1", what, err)
			}
		}
		return known
	}
	if err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, body); !errors.Is(err, errLeaveEarly) {
		t.Error(err)
	}
}
