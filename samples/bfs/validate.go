package main

// What must be true of a search's tree, after the rules of Graph500: its parents lead to the root level by level, along
// edges of the graph; no edge joins vertices whose levels differ by more than one; and no edge leads out of what was
// reached. So the tree has no circle, spans the component of the root, and all its ways are shortest ones.

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/gopgas/gopgas/dsm"
)

// validate returns how often the tree of the last search, from root, breaks a rule. It is collective.
func (g *graph) validate(ctx context.Context, root int) (wrong int, err error) {
	var count atomic.Int64
	err = g.region.Run(ctx, g.goroutines, func(ctx context.Context, m dsm.Member) error {
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		lo, hi := m.Share(g.vertices)
		var own int
		for v := lo; v < hi; v++ {
			own += g.violations(v, root)
		}
		total, err := m.Sum(ctx, float64(own))
		if err != nil {
			return err
		}
		count.Store(int64(total[0])) // the same on all members
		return nil
	})
	return int(count.Load()), err
}

// violations returns how many rules vertex v breaks.
func (g *graph) violations(v, root int) (n int) {
	level, neighbours := g.level.At(v), g.of(v)
	for _, u := range neighbours {
		other := g.level.At(int(u))
		if (level == 0) != (other == 0) || max(level-other, other-level) > 1 {
			n++
		}
	}
	switch parent := g.parent.At(v); {
	case v == root:
		if level != 1 || int(parent) != root {
			n++
		}
	case level != 0:
		if parent < 0 || int(parent) >= g.vertices || g.level.At(int(parent)) != level-1 || level == 1 || !slices.Contains(neighbours, parent) {
			n++
		}
	}
	return n
}
