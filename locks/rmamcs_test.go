package locks_test

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

func makeRMAMCS(tl ...int) lockstest.Maker {
	return func(ctx context.Context, w *pgas.World) (locks.Lock, error) {
		return locks.AllocRMAMCS(ctx, w, locks.RMAMCSOptions{TL: tl})
	}
}

// Machines of the simulator.
var (
	flat      = sim.Config{Topology: "host:1"}
	twoOnHost = sim.Config{Topology: "host:2"}
	threeDeep = sim.Config{Topology: "numa:2,host:2,rack:2"}
	lopsided  = sim.Config{Topology: "host:3"}
)

func TestRMAMCS(t *testing.T) {
	lockstest.Run(t, 4, lockstest.Excludes, makeRMAMCS())
	t.Run("three levels", func(t *testing.T) {
		pgastest.RunProcesses(t, 8, lockstest.Body(lockstest.Excludes, makeRMAMCS(0, 2, 3)), "PGAS_TOPO=numa:2,socket:2")
	})
}

func TestRMAMCSAdversaries(t *testing.T) {
	for _, plan := range []string{"l", "lcc", "lct"} {
		t.Run(plan, func(t *testing.T) {
			lockstest.Adversaries(t, flat, 4, 6, 50, lockstest.Plan{plan}, makeRMAMCS())
			lockstest.Adversaries(t, twoOnHost, 4, 6, 50, lockstest.Plan{plan}, makeRMAMCS(0, 2))
			lockstest.Adversaries(t, lopsided, 5, 6, 50, lockstest.Plan{plan}, makeRMAMCS())
			lockstest.Adversaries(t, threeDeep, 16, 3, 50, lockstest.Plan{plan}, makeRMAMCS(0, 1, 2, 3))
		})
	}
}

//ci:weekly
func TestRMAMCSExplored(t *testing.T) {
	// Each PE is alone on a host, so every lock climbs two levels.
	climbs := func(ctx context.Context, w *pgas.World) (locks.Lock, error) {
		return locks.AllocRMAMCS(ctx, w, locks.RMAMCSOptions{Levels: []string{"host"}})
	}
	explore(t, flat, climbs, "t t", "l l", "c l", "t l")
	explore(t, twoOnHost, makeRMAMCS(0, 2), "l t t")
	exploreLong(t, twoOnHost, makeRMAMCS(0, 1), "l l l")
	exploreLong(t, twoOnHost, makeRMAMCS(0, 2), "l c l")
}
