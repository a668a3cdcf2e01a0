package locks_test

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

func makeSpin(ctx context.Context, w *pgas.World) (locks.Lock, error) {
	return locks.AllocSpin(ctx, w, locks.SpinOptions{Home: w.NPEs() - 1})
}

func makeSpinRW(ctx context.Context, w *pgas.World) (locks.Lock, error) {
	return locks.AllocSpinRW(ctx, w, locks.SpinOptions{Home: w.NPEs() - 1})
}

func TestSpin(t *testing.T)   { lockstest.Run(t, 4, lockstest.Excludes, makeSpin) }
func TestSpinRW(t *testing.T) { lockstest.Run(t, 4, lockstest.Excludes, makeSpinRW) }

func TestSpinAdversaries(t *testing.T) {
	lockstest.Adversaries(t, sim.Config{}, 5, 6, 50, lockstest.Plan{"lct"}, makeSpin)
	lockstest.Adversaries(t, sim.Config{}, 5, 6, 50, lockstest.Plan{"lr", "rq", "sct"}, makeSpinRW)
}

//ci:weekly
func TestSpinExplored(t *testing.T) {
	explore(t, sim.Config{}, makeSpin, "t t", "t t t")
	explore(t, sim.Config{}, makeSpinRW, "t s", "t s s", "t t s")
}
