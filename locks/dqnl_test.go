package locks_test

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

func makeDQNL(ctx context.Context, w *pgas.World) (locks.Lock, error) {
	return locks.AllocDQNL(ctx, w, locks.DQNLOptions{Home: w.NPEs() - 1})
}

func TestDQNL(t *testing.T) { lockstest.Run(t, 4, lockstest.FirstServed, makeDQNL) }

//ci:weekly
func TestDQNLExplored(t *testing.T) {
	explore(t, sim.Config{}, makeDQNL, "l l", "t l", "c l", "c c", "l t t")
}

func TestDQNLAdversaries(t *testing.T) {
	for _, plan := range []string{"l", "lcc", "lct"} {
		t.Run(plan, func(t *testing.T) {
			lockstest.Adversaries(t, sim.Config{}, 5, 6, 100, lockstest.Plan{plan}, makeDQNL)
		})
	}
}

func TestDQNLDeaths(t *testing.T) { lockstest.Deaths(t, twoOnHost, 4, 40, makeDQNL) }
