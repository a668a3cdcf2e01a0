package locks_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestWorldCounts: World.Stats has each acquisition of each lock, in whichever mode, and that a PE has waited for one
// that another holds.
func TestWorldCounts(t *testing.T) {
	t.Setenv("PGAS_STATS", "1")
	for _, kind := range withoutServer() {
		knows := kind.Order != kinds.Unordered // the PE that passes it on
		body := func(ctx context.Context, w *pgas.World) error {
			l, _, err := kind.Alloc(ctx, w, kinds.Options{})
			if err != nil {
				return err
			}
			before := w.Stats().Locks
			n, err := lockAllWays(ctx, w, l)
			if err != nil {
				return err
			}
			if err := waitForHolder(ctx, w, l); err != nil {
				return err
			}
			got := w.Stats().Locks
			if all := got.Alone + got.Waited - before.Alone - before.Waited; all != uint64(n+1) {
				return fmt.Errorf("%d acquisitions are counted of %d: %+v", all, n+1, got)
			}
			if w.PE() == 1 && (got.Waited == before.Waited || knows != (len(got.HandOvers) > 0)) {
				return fmt.Errorf("PE 1 has waited for PE 0: %+v", got)
			}
			return w.Barrier(ctx)
		}
		t.Run(kind.Type, func(t *testing.T) {
			pgastest.RunProcesses(t, 2, body)
			pgastest.RunSim(t, 2, body)
		})
	}
}

// lockAllWays takes l in turn with the other PEs, and returns how often this PE had it.
func lockAllWays(ctx context.Context, w *pgas.World, l locks.Lock) (n int, err error) {
	for range 5 {
		if err := l.Lock(ctx); err != nil {
			return n, err
		}
		n++
		l.Unlock()
		if l.TryLock() {
			n++
			l.Unlock()
		}
		rw, ok := l.(locks.RWLock)
		if !ok {
			continue
		}
		if err := rw.RLock(ctx); err != nil {
			return n, err
		}
		n++
		rw.RUnlock()
		if rw.TryRLock() {
			n++
			rw.RUnlock()
		}
	}
	return n, w.Barrier(ctx)
}

// waitForHolder has PE 0 hold l until PE 1 waits for it. Both have it once.
func waitForHolder(ctx context.Context, w *pgas.World, l locks.Lock) error {
	if w.PE() == 0 {
		if err := l.Lock(ctx); err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == 1 {
		if err := l.Lock(ctx); err != nil {
			return err
		}
		l.Unlock()
		return nil
	}
	for l.Waiting() == 0 {
		if err := w.Sleep(ctx, 1000); err != nil {
			return err
		}
	}
	l.Unlock()
	return nil
}
