package main

// The search, level by level. A member looks through those of its vertices that have no level yet for one with a
// neighbour in the frontier. A level reads one frontier, which no member writes then, and writes the other, each member
// its own part: no byte is read and written between two barriers.

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/dsm"
)

// result is what one search has found.
type result struct {
	root    int
	levels  int
	reached int
	edges   int // with both ends reached
	took    time.Duration
	wrong   int // violations that validate has found
}

// search finds a tree that spans the component of root. It is collective.
func (g *graph) search(ctx context.Context, root int) (result, error) {
	found := result{root: root}
	err := g.region.Run(ctx, g.goroutines, func(ctx context.Context, m dsm.Member) error {
		g.prepare(m, root)
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		start := time.Now()
		levels, err := g.spread(ctx, m)
		if err != nil {
			return err
		}
		took := time.Since(start)
		sums, err := m.Sum(ctx, g.reached(m)...)
		if m.ID() == 0 && err == nil {
			found.levels, found.took, found.reached, found.edges = levels, took, int(sums[0]), int(sums[1])/2
		}
		return err
	})
	return found, err
}

// prepare clears a member's part of the arrays, and starts at root.
func (g *graph) prepare(m dsm.Member, root int) {
	lo, hi := m.Share(g.vertices)
	clear(g.level.Overwrite(lo, hi))
	clear(g.front[0].Overwrite(lo, hi))
	if lo <= root && root < hi {
		g.level.Set(root, 1)
		g.parent.Set(root, int32(root))
		g.front[0].Set(root, true)
	}
}

// spread makes levels until one finds no vertex, and returns their number.
func (g *graph) spread(ctx context.Context, m dsm.Member) (int, error) {
	for depth := 1; ; depth++ {
		found := g.step(m, depth)
		total, err := m.Sum(ctx, float64(found))
		if err != nil || total[0] == 0 {
			return depth, err
		}
		if err := m.Barrier(ctx); err != nil {
			return 0, err
		}
	}
}

// step gives a level and a parent to those of a member's vertices that have a neighbour in the frontier, and returns
// their number.
func (g *graph) step(m dsm.Member, depth int) (found int) {
	lo, hi := m.Share(g.vertices)
	now := g.front[(depth+1)%2]
	next := g.front[depth%2].Overwrite(lo, hi)
	clear(next)
	level, parent, start := g.level.Update(lo, hi), g.parent.Update(lo, hi), g.start.View(lo, hi+1)
	for v := range level {
		if level[v] != 0 {
			continue
		}
		for _, u := range g.neighbours.View(int(start[v]), int(start[v+1])) {
			if now.At(int(u)) {
				level[v], parent[v], next[v] = int32(depth)+1, u, true
				found++
				break
			}
		}
	}
	return found
}

// reached returns how many of a member's vertices have a level, and how many neighbours these have.
func (g *graph) reached(m dsm.Member) []float64 {
	lo, hi := m.Share(g.vertices)
	level, start := g.level.View(lo, hi), g.start.View(lo, hi+1)
	var vertices, neighbours int64
	for v, l := range level {
		if l != 0 {
			vertices++
			neighbours += start[v+1] - start[v]
		}
	}
	return []float64{float64(vertices), float64(neighbours)}
}
