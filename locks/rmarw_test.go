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

func makeRMARW(o locks.RMARWOptions) lockstest.Maker {
	return func(ctx context.Context, w *pgas.World) (locks.Lock, error) { return locks.AllocRMARW(ctx, w, o) }
}

//ci:ucx=nic
func TestRMARW(t *testing.T) {
	lockstest.Run(t, 4, lockstest.Excludes, makeRMARW(locks.RMARWOptions{TL: []int{3}, TR: 5}))
	t.Run("three levels", func(t *testing.T) {
		o := locks.RMARWOptions{TL: []int{2, 2, 3}, TDC: 3, TR: 4, TW: 5}
		pgastest.RunProcesses(t, 8, lockstest.Body(lockstest.Excludes, makeRMARW(o)), "PGAS_TOPO=numa:2,socket:2")
	})
}

func TestRMARWAdversaries(t *testing.T) {
	for _, plan := range []lockstest.Plan{{"l"}, {"l", "r"}, {"lr"}, {"lccr", "qcq"}, {"lcts", "rqst"}, {"l", "r", "r", "q"}, {"c", "r", "r"}} {
		t.Run(plan[0], func(t *testing.T) {
			lockstest.Adversaries(t, flat, 4, 6, 50, plan, makeRMARW(locks.RMARWOptions{TR: 2, TL: []int{2}}))
			lockstest.Adversaries(t, flat, 4, 6, 20, plan, makeRMARW(locks.RMARWOptions{TR: 2, Sequential: true}))
			lockstest.Adversaries(t, twoOnHost, 4, 6, 50, plan, makeRMARW(locks.RMARWOptions{TR: 1, TDC: 1}))
			lockstest.Adversaries(t, lopsided, 5, 6, 50, plan, makeRMARW(locks.RMARWOptions{TDC: 2}))
			lockstest.Adversaries(t, threeDeep, 16, 3, 50, plan, makeRMARW(locks.RMARWOptions{TL: []int{2, 2, 2, 2}, TR: 3, TW: 5}))
		})
	}
}

//ci:weekly
func TestRMARWExplored(t *testing.T) {
	one := makeRMARW(locks.RMARWOptions{TR: 1, TDC: 4})
	explore(t, sim.Config{}, one, "t s", "l r", "l q", "c r")
}
