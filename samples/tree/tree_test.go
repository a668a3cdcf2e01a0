package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/samples/versions"
)

// Every round checks its sums, so the modes must only come to an end.
func TestModes(t *testing.T) {
	for _, c := range []struct{ npes, arity, numbers int }{
		{1, 16, 3}, // the root alone
		{5, 16, 1}, // one level
		{8, 2, 5},  // four levels, the deepest with one node
		{4, 3, 2000},
	} {
		o := &options{numbers: c.numbers, arity: c.arity, reductions: 3}
		t.Run(fmt.Sprintf("%d PEs, arity %d, %d numbers", c.npes, c.arity, c.numbers), func(t *testing.T) {
			pgastest.RunAll(t, c.npes, func(ctx context.Context, w *pgas.World) error {
				for _, m := range modes(o) {
					if err := m.Rounds(ctx, w, 2); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// What is wrong with the sums must be noticed.
func TestCheck(t *testing.T) {
	o := &options{numbers: 2, arity: 16, reductions: 1}
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		r, err := versions.NewRun(ctx, w)
		if err != nil {
			return err
		}
		wrong := &tree{Run: r, o: o, turn: 1, sums: []float64{number(0, 1, 0), number(0, 1, 1) + 1}}
		if err := wrong.check(); err == nil {
			t.Error("a wrong sum is not noticed")
		}
		wrong.sums[1]--
		return wrong.check()
	})
}

// What the sample is to show, on the machine that is simulated: one request for all children is at least 1.5 times
// as fast as a receive for each.
func TestFaster(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates hundreds of PEs")
	}
	ratios, err := program(&options{}).Faster(t.Context(), "notify", "-pes", "32,64,256", "-reductions", "4")
	if err != nil {
		t.Fatal(err)
	}
	for i, ratio := range ratios {
		if ratio < 1.5 {
			t.Errorf("point %d: notified puts are %.2f times as fast as messages", i, ratio)
		}
	}
}

// Each PE but the root is the child that its parent takes it for, and depths are by one more than the parent's.
func TestPlace(t *testing.T) {
	for _, arity := range []int{2, 3, 16} {
		for npes := 1; npes <= 300; npes++ {
			seen, deepest := make([]int, npes), 0
			for pe := range npes {
				n := place(pe, npes, arity)
				deepest = max(deepest, n.depth)
				for child := range n.children {
					c := place(n.first+child, npes, arity)
					seen[n.first+child]++
					if c.parent != pe || c.nth != child || c.depth != n.depth+1 {
						t.Fatalf("arity %d, %d PEs: child %d of %d is %+v", arity, npes, child, pe, c)
					}
				}
			}
			for pe := 1; pe < npes; pe++ {
				if seen[pe] != 1 {
					t.Fatalf("arity %d, %d PEs: %d parents have PE %d", arity, npes, seen[pe], pe)
				}
			}
			if n := place(0, npes, arity); n.levels != deepest || seen[root] != 0 {
				t.Fatalf("arity %d, %d PEs: the root is %+v, and the tree %d deep", arity, npes, n, deepest)
			}
		}
	}
}

// BenchmarkAdd measures the default of -element.
func BenchmarkAdd(b *testing.B) {
	const n = 1024
	to, from := make([]float64, n), make([]float64, n)
	for b.Loop() {
		add(to, from)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/number")
}
