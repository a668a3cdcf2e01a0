package main

// The vertices with the highest ranks: those of each PE go to PE 0, which has the highest of all among them.

import (
	"cmp"
	"context"
	"slices"

	"github.com/gopgas/gopgas/pgas"
)

type ranked struct {
	Vertex int64
	Rank   float64
}

// top returns the k vertices with the highest ranks to PE 0. It is collective.
func (g *graph) top(ctx context.Context, k int) ([]ranked, error) {
	var mine []ranked
	for v, rank := range g.ranks.LocalAll() {
		mine = append(mine, ranked{int64(v), *rank})
	}
	all, err := pgas.Gather(ctx, g.w.Team(), highest(mine, k), 0)
	return highest(slices.Concat(all...), k), err
}

// highest returns the k first of list, the highest rank first.
func highest(list []ranked, k int) []ranked {
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Vertex, b.Vertex))
	})
	return list[:min(k, len(list))]
}
