package main

// The graph in coherent memory: the neighbours of all vertices in one array, in the order of vertices. Members write
// parts of the list of edges, then each reads the whole list and keeps what concerns its own vertices.

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
)

// graph is a graph, and the arrays of a search in it.
type graph struct {
	region     *dsm.Region
	goroutines int
	vertices   int
	edges      int

	list       dsm.Array[edge]
	start      dsm.Array[int64] // of a vertex's neighbours
	neighbours dsm.Array[int32]

	level  dsm.Array[int32] // 1 + the distance from the root, or 0
	parent dsm.Array[int32] // in the tree; only of vertices with a level
	front  [2]dsm.Array[bool]
}

// build makes a graph. It is collective.
func build(ctx context.Context, w *pgas.World, s source, goroutines int) (*graph, error) {
	g := &graph{goroutines: goroutines, vertices: s.vertices, edges: s.edges}
	if err := g.allocate(ctx, w); err != nil {
		return nil, err
	}
	return g, g.region.Run(ctx, goroutines, func(ctx context.Context, m dsm.Member) error {
		lo, hi := m.Share(s.edges)
		s.fill(g.list.Overwrite(lo, hi), lo)
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		if err := g.index(ctx, m); err != nil {
			return err
		}
		g.join(m)
		return m.Barrier(ctx)
	})
}

// allocate opens a region with room for all arrays.
func (g *graph) allocate(ctx context.Context, w *pgas.World) (err error) {
	const arrays, block = 7, 32 << 10
	bytes := 16*g.edges + 18*g.vertices + 8 + arrays*block
	if g.region, err = dsm.Open(ctx, w, dsm.Options{Bytes: uint64(bytes), Block: block}); err != nil {
		return err
	}
	r := g.region
	if g.list, err = dsm.Alloc[edge](ctx, r, g.edges); err != nil {
		return err
	}
	if g.start, err = dsm.Alloc[int64](ctx, r, g.vertices+1); err != nil {
		return err
	}
	if g.neighbours, err = dsm.Alloc[int32](ctx, r, 2*g.edges); err != nil {
		return err
	}
	for _, a := range []*dsm.Array[int32]{&g.level, &g.parent} {
		if *a, err = dsm.Alloc[int32](ctx, r, g.vertices); err != nil {
			return err
		}
	}
	for i := range g.front {
		if g.front[i], err = dsm.Alloc[bool](ctx, r, g.vertices); err != nil {
			return err
		}
	}
	return nil
}

// incident calls f with each edge's end among the vertices from lo to hi-1 and its other end. Loops are left out.
func incident(list []edge, lo, hi int, f func(vertex, other int32)) {
	for _, e := range list {
		if e.U == e.V {
			continue
		}
		if u := int(e.U); lo <= u && u < hi {
			f(e.U, e.V)
		}
		if v := int(e.V); lo <= v && v < hi {
			f(e.V, e.U)
		}
	}
}

// index sets start. Each member counts for its vertices; the first one adds.
func (g *graph) index(ctx context.Context, m dsm.Member) error {
	lo, hi := m.Share(g.vertices)
	degrees := g.start.Update(lo+1, hi+1)
	clear(degrees)
	incident(g.list.View(0, g.edges), lo, hi, func(v, _ int32) { degrees[int(v)-lo]++ })
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	if m.ID() == 0 {
		start := g.start.Update(0, g.vertices+1)
		for v := range g.vertices {
			start[v+1] += start[v]
		}
	}
	return m.Barrier(ctx)
}

// join stores the neighbours of a member's vertices.
func (g *graph) join(m dsm.Member) {
	lo, hi := m.Share(g.vertices)
	if lo == hi {
		return
	}
	next := append([]int64(nil), g.start.View(lo, hi)...)
	from, to := g.start.At(lo), g.start.At(hi)
	neighbours := g.neighbours.Overwrite(int(from), int(to))
	incident(g.list.View(0, g.edges), lo, hi, func(v, other int32) {
		neighbours[next[int(v)-lo]-from] = other
		next[int(v)-lo]++
	})
}

// of returns the neighbours of v.
func (g *graph) of(v int) []int32 {
	return g.neighbours.View(int(g.start.At(v)), int(g.start.At(v+1)))
}

// roots returns n vertices that have neighbours, the same on all PEs. A graph whose edges are all loops has none.
func (g *graph) roots(n int) (all []int) {
	random := rand.New(rand.NewPCG(seed, 0))
	for tries := 0; len(all) < n && tries < 1000*n; tries++ {
		if v := random.IntN(g.vertices); len(g.of(v)) > 0 {
			all = append(all, v)
		}
	}
	return all
}

func (g *graph) String() string {
	return fmt.Sprintf("%d vertices, %d edges", g.vertices, g.edges)
}
