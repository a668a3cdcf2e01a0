package main

// The graph in pieces: a PE has a block of the vertices, and the edges that lead to them, in the order of these
// vertices.

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

type graph struct {
	w        *pgas.World
	vertices int
	ranks    *containers.Array[float64]
	given    *containers.Array[float64] // what a vertex gives along each of its edges
	degrees  *containers.Array[int64]   // edges from each vertex

	sources []int     // the vertices from which edges lead to this PE's, each once
	gathers []float64 // what each of them gives
	from    []int32   // of each edge: its source's place in sources
	ends    []int     // of each of this PE's vertices: where its edges end in from
}

// build makes the graph of all PEs' edges. It is collective.
func build(ctx context.Context, w *pgas.World, vertices int, edges []edge) (g *graph, err error) {
	g = &graph{w: w, vertices: vertices}
	if g.ranks, err = containers.NewArray[float64](ctx, w, vertices); err != nil {
		return nil, err
	}
	if g.given, err = containers.NewArray[float64](ctx, w, vertices); err != nil {
		return nil, err
	}
	if g.degrees, err = containers.NewArray[int64](ctx, w, vertices); err != nil {
		return nil, err
	}
	sources := make([]int, len(edges))
	for i, e := range edges {
		sources[i] = int(e.From)
	}
	if err := containers.Count(ctx, g.degrees, sources); err != nil {
		return nil, err
	}
	mine, err := g.distribute(ctx, edges)
	if err != nil {
		return nil, err
	}
	g.index(mine)
	return g, nil
}

// distribute sends each edge to the PE that has the vertex that it leads to, and returns those that have come. It is
// collective.
func (g *graph) distribute(ctx context.Context, edges []edge) (mine []edge, err error) {
	mail, err := containers.NewMailbox(ctx, g.w, func(_ int, items []edge) error {
		mine = append(mine, items...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, e := range edges {
		if err := mail.Send(ctx, g.ranks.Owner(int(e.To)), e); err != nil {
			return nil, err
		}
	}
	return mine, errors.Join(mail.Flush(ctx), mail.Free(ctx))
}

// index makes the lists of sources, and of the edges of each vertex, in an order that does not depend on how the edges
// have come. It is local.
func (g *graph) index(mine []edge) {
	slices.SortFunc(mine, func(a, b edge) int { return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From)) })
	for _, e := range mine {
		g.sources = append(g.sources, int(e.From))
	}
	slices.Sort(g.sources)
	g.sources = slices.Compact(g.sources)
	g.gathers = make([]float64, len(g.sources))
	places := make(map[int]int32, len(g.sources))
	for i, v := range g.sources {
		places[v] = int32(i)
	}
	for v := range g.ranks.LocalAll() {
		for len(g.from) < len(mine) && int(mine[len(g.from)].To) == v {
			g.from = append(g.from, places[int(mine[len(g.from)].From)])
		}
		g.ends = append(g.ends, len(g.from))
	}
}

// free is collective.
func (g *graph) free(ctx context.Context) error {
	return errors.Join(g.ranks.Free(ctx), g.given.Free(ctx), g.degrees.Free(ctx))
}
