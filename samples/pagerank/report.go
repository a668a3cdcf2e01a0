package main

// What PE 0 prints, for people or as pgasbench does.

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/kernel"
)

// result is what came out; best is PE 0's only.
type result struct {
	took            time.Duration // of all iterations
	iterations      int
	change          float64 // of the last one
	vertices, edges int
	best            []ranked
	total           float64 // of all ranks
}

// complete collects the rest of r; edges are this PE's. It is collective.
func (r *result) complete(ctx context.Context, g *graph, edges, top int) (err error) {
	r.vertices = g.vertices
	if r.best, err = g.top(ctx, top); err != nil {
		return err
	}
	if r.edges, err = pgas.SumValue(ctx, g.w.Team(), edges); err != nil {
		return err
	}
	for _, rank := range g.ranks.Local() {
		r.total += rank
	}
	r.total, err = pgas.SumValue(ctx, g.w.Team(), r.total)
	return err
}

// report prints r.
func (r *result) report(out io.Writer, w *pgas.World, json bool) error {
	if json {
		return r.kernel().Print(out, w)
	}
	fmt.Fprintf(out, "%d vertices, %d edges on %d PEs of %d host(s)\n", r.vertices, r.edges, w.NPEs(), len(w.Hosts()))
	fmt.Fprintf(out, "%d iterations, of which the last one changed the ranks by %.2g\n", r.iterations, r.change)
	for _, v := range r.best {
		fmt.Fprintf(out, "%12d  %.8f\n", v.Vertex, v.Rank)
	}
	return nil
}

// kernel returns what an edge takes in an iteration.
func (r *result) kernel() kernel.Result {
	ns := float64(r.took.Nanoseconds()) / float64(r.iterations*max(r.edges, 1))
	computed := fmt.Sprintf("%d iterations, the highest rank is vertex %d's, %.8f, and all are %.8f",
		r.iterations, r.best[0].Vertex, r.best[0].Rank, r.total)
	return kernel.Result{Bench: "pagerank", Bytes: 8, P50ns: ns, Mops: 1e3 / ns, Computed: computed}
}
