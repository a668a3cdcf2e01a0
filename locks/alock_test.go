package locks_test

import (
	"context"
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
