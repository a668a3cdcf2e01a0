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

func makeNCoSED(ctx context.Context, w *pgas.World) (locks.Lock, error) {
	return locks.AllocNCoSED(ctx, w, locks.NCoSEDOptions{Home: w.NPEs() - 1})
}

// makeShortNCoSED counts readers up to 2 only.
func makeShortNCoSED(ctx context.Context, w *pgas.World) (locks.Lock, error) {
	return locks.AllocNCoSED(ctx, w, locks.NCoSEDOptions{Home: w.NPEs() - 1, Limit: 2})
}

func TestNCoSED(t *testing.T) { lockstest.Run(t, 4, lockstest.FirstServed, makeNCoSED) }
func TestNCoSEDThatCountsAgain(t *testing.T) {
	lockstest.Run(t, 3, lockstest.FirstServed, makeShortNCoSED)
}

// exploreAside is explore, with one PE more, which does nothing: the home. What others do to a PE's memory
// makes orders differ to it, and most is done to the home's.
func exploreAside(t *testing.T, make lockstest.Maker, plans ...string) {
	t.Helper()
	for _, plan := range plans {
		t.Run(plan, func(t *testing.T) {
			lockstest.Explore(t, sim.Config{}, append(strings.Fields(plan), ""), make)
		})
	}
}

func TestNCoSEDExplored(t *testing.T) {
	exploreAside(t, makeNCoSED, "ll ll", "cl cl", "l r", "l l r", "l r r", "cr lr", "lq lr", "cl q", "c q l", "tl r", "t s l", "l q s", "rl rl")
	exploreAside(t, makeShortNCoSED, "rr rr", "rrr lr", "ss rr")
}

func TestNCoSEDAdversaries(t *testing.T) {
	for _, plan := range []lockstest.Plan{{"l"}, {"lcc"}, {"lr"}, {"lrrr", "rrr"}, {"lcrq"}, {"cq"}, {"lr", "rq", "sct"}} {
		t.Run(plan[0], func(t *testing.T) { lockstest.Adversaries(t, sim.Config{}, 5, 6, 100, plan, makeNCoSED) })
	}
	lockstest.Adversaries(t, sim.Config{}, 4, 6, 100, lockstest.Plan{"lrrsqc"}, makeShortNCoSED)
	// More readers than a writer has chains.
	lockstest.Adversaries(t, sim.Config{}, 40, 2, 10, lockstest.Plan{"l", "rqr", "rr", "qc", "rr"}, makeNCoSED)
}
