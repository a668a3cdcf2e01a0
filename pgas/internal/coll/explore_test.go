package coll_test

// Reductions through staging areas, in every order in which the messages of the leaders can take effect.

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/sim"
)

var long = flag.Bool("long", false, "try every planted bug")

// append2 combines in a way that shows the order: each operand takes two more digits.
func append2(a, b int64) int64 { return 100*a + b }

// A reductionRun is what the PEs of an exploration do: reductions one after the other, each of so many elements. The
// first of them are over before the exploration begins.
type reductionRun struct {
	npes, elements int
	before, calls  int
}

// contribution is what a PE brings to a call: other values in each call, so that what is left of an earlier one shows.
func contribution(call, pe int) int64 { return int64(10*call + pe + 1) }

// body makes the reductions of r, and checks every element of every result.
func (r reductionRun) body(ctx context.Context, w *pgas.World) error {
	mem, err := pgas.Alloc[int64](ctx, w, 2*r.elements)
	if err != nil {
		return err
	}
	for call := range r.before + r.calls {
		if call == r.before {
			sim.Start(ctx)
		}
		if err := r.reduce(ctx, w, mem, call); err != nil {
			return err
		}
	}
	return nil
}

// linear selects the algorithm of a collective.
func linear(o *coll.Options) { o.Algorithm = coll.Linear }

// reduce makes one of them.
func (r reductionRun) reduce(ctx context.Context, w *pgas.World, mem pgas.Sym[int64], call int) error {
	sim.Shares(ctx)
	src, dst := mem.Range(0, r.elements), mem.Range(r.elements, 2*r.elements)
	for i := range r.elements {
		mem.Local()[i] = contribution(call, w.PE())
		mem.Local()[r.elements+i] = -1
	}
	if err := pgas.FuncReduce(ctx, w.Team(), dst, src, append2, linear); err != nil {
		return err
	}
	sim.Shares(ctx)
	var want int64
	for pe := range w.NPEs() {
		want = append2(want, contribution(call, pe))
	}
	for i, got := range mem.Local()[r.elements:] {
		if got != want {
			return fmt.Errorf("PE %d, call %d: element %d is %d, want %d", w.PE(), call, i, got, want)
		}
	}
	return nil
}

// TestStagedLinearExplored: in every order, each leader has all parts, combined in the order of the hosts, before it
// leaves, and no part of a call is taken for one of another call. What a collective reads of staging areas is not
// announced to the simulator, so no order may be left out (sim.Config.Reduce).
//
//ci:weekly
func TestStagedLinearExplored(t *testing.T) {
	runs := []reductionRun{
		{npes: 2, elements: 2, before: 1, calls: 1},
		{npes: 2, elements: 2, calls: 1},            // the leaders tell each other where their areas are
		{npes: 2, elements: 1, before: 1, calls: 1}, // one leader has nothing to combine
		{npes: 2, elements: 2, before: 1, calls: 2}, // both halves of the areas are used
	}
	if testing.Short() {
		runs = runs[:3]
	}
	for _, r := range runs {
		t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
			e, err := sim.Explore(t.Context(), sim.Config{}, r.npes, r.body)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", e)
		})
	}
}

// TestStagedLinearAdversaries: the same of more leaders and calls, which have too many orders to try all.
func TestStagedLinearAdversaries(t *testing.T) {
	for _, r := range []reductionRun{{npes: 3, elements: 3, calls: 5}, {npes: 4, elements: 6, calls: 5}, {npes: 5, elements: 3, calls: 4}} {
		t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
			if err := sim.Seeds(t.Context(), sim.Config{}, r.npes, 100, r.body); err != nil {
				t.Fatal(err)
			}
		})
	}
}
