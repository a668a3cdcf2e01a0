package pgas_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestSourcesAreReturned: the source of a PutNB may be changed once it is said to be sent, in each of the
// ways to say so, and the target gets what was there before.
//
//ci:ucx
func TestSourcesAreReturned(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		c, err := w.NewContext(pgas.Private())
		if err != nil {
			return err
		}
		if err := sourcesAreReturned(ctx, w, w.Context()); err != nil {
			return err
		}
		if err := sourcesAreReturned(ctx, w, c); err != nil {
			return fmt.Errorf("private context: %w", err)
		}
		sent, err := lastOne(ctx, w, c)
		if err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
		if !sent.Done() || sent.Wait(ctx) != nil || c.QuietLocal(ctx) != nil {
			return fmt.Errorf("a closed context still uses a source")
		}
		return w.Barrier(ctx)
	}
	onEvery(t, 2, body)
	t.Run("UCX's own", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, body, "PGAS_RMA=native", "PGAS_AMO=nic") })
	pgastest.RunLate(t, 2, 2, body)
}

func lastOne(ctx context.Context, w *pgas.World, c *pgas.Context) (pgas.LocalCompletion, error) {
	s, err := pgas.Alloc[byte](ctx, w, 100_000)
	if err != nil {
		return pgas.LocalCompletion{}, err
	}
	return s.All().On(c).PutNB(1-w.PE(), make([]byte, 100_000)), nil
}

func sourcesAreReturned(ctx context.Context, w *pgas.World, c *pgas.Context) error {
	sizes := []int{0, 1, 1000, 1025, 8000, 60_000}
	s, err := pgas.Alloc[uint64](ctx, w, 60_000)
	if err != nil {
		return err
	}
	all, other := s.All().On(c), 1-w.PE()
	for round, size := range append(sizes, sizes...) {
		src := make([]uint64, size)
		for i := range src {
			src[i] = uint64(round+1)<<32 | uint64(i)
		}
		sent := all.PutNB(other, src)
		switch round % 3 {
		case 0:
			err = sent.Wait(ctx)
		case 1:
			err = c.QuietLocal(ctx)
		case 2:
			err = c.Quiet(ctx)
		}
		if err != nil {
			return err
		}
		if !sent.Done() {
			return fmt.Errorf("way %d: the source of %d elements is still in use", round%3, size)
		}
		clear(src)
		got := make([]uint64, size)
		if err := c.Quiet(ctx); err != nil {
			return err
		}
		all.Get(other, got)
		for i, v := range got {
			if want := uint64(round+1)<<32 | uint64(i); v != want {
				return fmt.Errorf("way %d: element %d of %d is %#x, want %#x", round%3, i, size, v, want)
			}
		}
	}
	return s.Free(ctx)
}

// TestSessions: a session changes no result, whatever is hinted, and ends as often as it likes.
func TestSessions(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		c, err := w.NewContext()
		if err != nil {
			return err
		}
		s, err := pgas.Alloc[uint64](ctx, w, 400)
		if err != nil {
			return err
		}
		sigs, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		other, sig := 1-w.PE(), pgas.SignalOf(sigs, 0)
		for round, hints := range [][]pgas.SessionHint{
			nil, {pgas.Batch()}, {pgas.TotalOps(1)}, {pgas.Batch(), pgas.TotalOps(5)}, {pgas.Batch(), pgas.TotalOps(1 << 40)}, {pgas.Batch()},
		} {
			c.StartSession(hints...)
			c.StartSession()
			for i := range 400 {
				s.At(i).On(c).Put(other, uint64(i*round))
			}
			if err := c.Quiet(ctx); err != nil {
				return err
			}
			if got := s.At(399).On(c).Get(other); got != uint64(399*round) {
				return fmt.Errorf("round %d: %d after a quiet", round, got)
			}
			// A batch's signals leave in the end, though nothing pushes them.
			s.At(0).On(c).PutSignal(other, new(uint64), sig, uint64(round+1))
			if _, err := sig.WaitUntil(ctx, pgas.GE, uint64(round+1)); err != nil {
				return err
			}
			c.EndSession()
			c.EndSession()
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		c.StartSession(pgas.Batch())
		return c.Close() // an open session ends with its context
	}
	onEvery(t, 2, body)
	pgastest.RunLate(t, 2, 2, body)
}

func TestSessionMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(_ context.Context, w *pgas.World) error {
		c, err := w.NewContext()
		if err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
		for _, misuse := range []func(){
			func() { pgas.TotalOps(-1) }, func() { c.StartSession(pgas.Batch()) }, c.EndSession,
		} {
			if _, ok := panicOf(misuse).(*pgas.UsageError); !ok {
				return fmt.Errorf("no *UsageError")
			}
		}
		return nil
	})
}
