package main

// The iteration. Every vertex gives its rank in equal parts along its edges, and a vertex without edges gives it to
// all. A new rank is what a vertex is given, times the damping, and an equal share of the rest.

import (
	"context"
	"math"

	"github.com/gopgas/gopgas/pgas"
)

// rank iterates until the ranks change by less than the tolerance, and returns how often, and the last change. It is
// collective.
func (g *graph) rank(ctx context.Context, o options) (iterations int, change float64, err error) {
	ranks, n := g.ranks.Local(), float64(g.vertices)
	for i := range ranks {
		ranks[i] = 1 / n
	}
	for {
		lost, err := g.give(ctx)
		if err != nil {
			return 0, 0, err
		}
		// What is given is complete on every PE: the sum of what is lost was that of all.
		if err := g.given.Gather(ctx, g.gathers, g.sources); err != nil {
			return 0, 0, err
		}
		rest := (1-o.damping)/n + o.damping*lost/n
		if change, err = pgas.SumValue(ctx, g.w.Team(), g.take(o.damping, rest)); err != nil {
			return 0, 0, err
		}
		iterations++
		if change < o.tolerance || iterations == o.iterations {
			return iterations, change, nil
		}
	}
}

// give sets what this PE's vertices give along each edge, and returns the ranks of all vertices without edges. It is
// collective: when it returns, all PEs have given.
func (g *graph) give(ctx context.Context) (lost float64, err error) {
	ranks, given, degrees := g.ranks.Local(), g.given.Local(), g.degrees.Local()
	for i, rank := range ranks {
		if degrees[i] == 0 {
			lost += rank
			continue
		}
		given[i] = rank / float64(degrees[i])
	}
	return pgas.SumValue(ctx, g.w.Team(), lost)
}

// take sets the ranks of this PE's vertices, and returns by how much they have changed. It is local.
func (g *graph) take(damping, rest float64) (change float64) {
	ranks, begin := g.ranks.Local(), 0
	for i, end := range g.ends {
		sum := 0.0
		for _, source := range g.from[begin:end] {
			sum += g.gathers[source]
		}
		begin = end
		rank := rest + damping*sum
		change += math.Abs(rank - ranks[i])
		ranks[i] = rank
	}
	return change
}
