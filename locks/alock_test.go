package locks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// makeALock allocates one with small budgets, so that they are used up.
func makeALock(ctx context.Context, w *pgas.World) (locks.Lock, error) {
	return locks.AllocALock(ctx, w, locks.ALockOptions{RemoteBudget: 2, LocalBudget: 1})
}

func TestALock(t *testing.T) { lockstest.Run(t, 4, lockstest.Excludes, makeALock) }

// twoHosts has PE 0, the home, and PE 1 on one host and all others on other ones. What CPUs and NICs do is not
// atomic.
var twoHosts = sim.Config{Topology: "host:2", Atomics: sim.Split}

func TestALockExplored(t *testing.T) {
	split := sim.Config{Atomics: sim.Split}
	explore(t, split, makeALock, "l l", "t l", "l t", "c t", "t c")
}

func TestALockAdversaries(t *testing.T) {
	for _, plan := range []string{"l", "lcc", "lct"} {
		t.Run(plan, func(t *testing.T) {
			lockstest.Adversaries(t, twoHosts, 5, 6, 100, lockstest.Plan{plan}, makeALock)
		})
	}
}

// makeFlawed makes broken copies.
func makeFlawed(flaw locks.ALockFlaw) lockstest.Maker {
	return func(ctx context.Context, w *pgas.World) (locks.Lock, error) {
		return locks.AllocFlawedALock(ctx, w, locks.ALockOptions{RemoteBudget: 2, LocalBudget: 1}, flaw)
	}
}

var flaws = []struct {
	name string
	flaw locks.ALockFlaw
	plan string
}{
	{"waits for both", locks.WaitsForBoth, "l t"},
	{"never yields", locks.NeverYields, "l l"},
	{"looks first", locks.LooksFirst, "l l"},
	{"one queue for CPU and NIC", locks.OneQueue, "l t"},
	{"leaves without a word", locks.LeavesQuiet, "c lc c l"},
}

func TestALockMutants(t *testing.T) {
	for _, m := range flaws {
		t.Run(m.name, func(t *testing.T) {
			plan, make := strings.Fields(m.plan), makeFlawed(m.flaw)
			cfg := twoHosts
			cfg.MaxEvents = 200_000
			if len(plan) == 2 {
				cfg.Topology = ""
				_, err := sim.Explore(t.Context(), cfg, 2, lockstest.Program(plan, 1, make))
				found(t, "exploration", err)
			}
			found(t, "adversaries", sim.Seeds(t.Context(), cfg, len(plan), 200, lockstest.Program(plan, 6, make)))
		})
	}
}

// found says that a failure was expected.
func found(t *testing.T, by string, err error) {
	t.Helper()
	var f *sim.Failure
	if !errors.As(err, &f) {
		t.Errorf("not found by %s: %v", by, err)
		return
	}
	t.Logf("found by %s: %v", by, f.Err)
}

// overtaking has the PEs of two hosts lock again and again. Nobody may take the lock too often while the head
// of the other cohort lets it go first: at most until its budget is used up, and once more that often if
// it had let the other one go first just before that did.
func overtaking(budget int, flaw locks.ALockFlaw) sim.Body {
	const npes = 4
	var all [npes]locks.Lock
	var inRow [2]int
	return func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocFlawedALock(ctx, w, locks.ALockOptions{RemoteBudget: budget, LocalBudget: budget}, flaw)
		if err != nil {
			return err
		}
		all[w.PE()], inRow = l, [2]int{}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		us, them := w.PE()/2, 1-w.PE()/2
		for range 60 {
			if err := l.Lock(ctx); err != nil {
				return err
			}
			inRow[us], inRow[them] = inRow[us]+1, 0
			if !locks.Contends(all[2*them], all[0]) && !locks.Contends(all[2*them+1], all[0]) {
				inRow[us] = 0
			}
			if inRow[us] > 2*budget {
				return fmt.Errorf("a cohort with a budget of %d took the lock %d times while the other one waited", budget, inRow[us])
			}
			w.Yield()
			l.Unlock()
		}
		return nil
	}
}

func TestALockBudget(t *testing.T) {
	for _, budget := range []int{1, 3} {
		if _, err := sim.Run(t.Context(), twoHosts, 4, overtaking(budget, locks.Flawless)); err != nil {
			t.Error(err)
		}
		if err := sim.Seeds(t.Context(), twoHosts, 4, 50, overtaking(budget, locks.Flawless)); err != nil {
			t.Error(err)
		}
		found(t, "adversaries", sim.Seeds(t.Context(), twoHosts, 4, 50, overtaking(budget, locks.Spends0)))
	}
}

func TestALockDeaths(t *testing.T) { lockstest.Deaths(t, twoHosts, 5, 60, makeALock) }
