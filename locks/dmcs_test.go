package locks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

func makeDMCS(ctx context.Context, w *pgas.World) (locks.Lock, error) {
	return locks.AllocDMCS(ctx, w, locks.DMCSOptions{Home: w.NPEs() - 1})
}

//ci:ucx=nic
func TestDMCS(t *testing.T) { lockstest.Run(t, 4, lockstest.FirstServed, makeDMCS) }

// explore tries every order that matters for each plan: the acts of the PEs, separated by blanks. PEs share
// nothing but the lock.
func explore(t *testing.T, cfg sim.Config, make lockstest.Maker, plans ...string) {
	t.Helper()
	cfg.Reduce = true
	for _, plan := range plans {
		t.Run(plan, func(t *testing.T) { lockstest.Explore(t, cfg, strings.Fields(plan), make) })
	}
}

//ci:weekly
func TestDMCSExplored(t *testing.T) {
	explore(t, sim.Config{}, makeDMCS, "l l", "t l", "c l", "c c", "l t t", "cc l", "l l l")
}

// exploreLong is explore, with -long only.
func exploreLong(t *testing.T, cfg sim.Config, make lockstest.Maker, plans ...string) {
	t.Helper()
	if *long {
		explore(t, cfg, make, plans...)
	}
}

func TestDMCSAdversaries(t *testing.T) {
	for _, plan := range []string{"l", "lcc", "lct"} {
		t.Run(plan, func(t *testing.T) {
			lockstest.Adversaries(t, sim.Config{}, 5, 6, 100, lockstest.Plan{plan}, makeDMCS)
		})
	}
}
