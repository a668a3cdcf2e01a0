package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// shared is what the goroutines of all PEs share. What one goroutine alone uses is in Go's memory.
type shared struct {
	class
	grid dsm.Array[complex128] // planes, and later columns
	sums dsm.Array[complex128] // of plane z after step t, at z*steps+t
}

// coherent solves the equation in goroutines of all PEs.
func coherent(ctx context.Context, w *pgas.World, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	var result benchmark.Result
	r, g, err := open(ctx, w, c, s)
	if err != nil {
		return result, err
	}
	err = r.Run(ctx, s.Goroutines, func(ctx context.Context, m dsm.Member) error {
		zlo, zhi := m.Share(c.nz)
		ylo, yhi := m.Share(c.ny)
		k := newWork(c, zlo, zhi, ylo, yhi)
		if err := g.forward(ctx, m, k); err != nil { // not timed: it touches all memory
			return err
		}
		start := time.Now()
		if err := g.solve(ctx, m, k); err != nil {
			return err
		}
		if m.ID() == 0 {
			result = c.result(g.sums.View(0, g.sums.Len()), time.Since(start))
		}
		return nil
	})
	if err != nil {
		return result, err
	}
	err = result.Close(ctx, r)
	return result, err
}

// open opens a region with the arrays of the problem.
func open(ctx context.Context, w *pgas.World, c class, s benchmark.Setup) (*dsm.Region, *shared, error) {
	g := &shared{class: c}
	r, err := dsm.Open(ctx, w, dsm.Options{Bytes: uint64(16*c.size() + 1<<20)})
	if err != nil {
		return nil, nil, err
	}
	if g.grid, err = dsm.Alloc[complex128](ctx, r, c.size()); err != nil {
		return nil, nil, err
	}
	g.sums, err = dsm.Alloc[complex128](ctx, r, steps*c.nz)
	return r, g, err
}

// solve transforms the initial values and makes all steps.
func (g *shared) solve(ctx context.Context, m dsm.Member, k *work) error {
	if err := g.forward(ctx, m, k); err != nil {
		return err
	}
	sums := make([]complex128, steps*(k.zhi-k.zlo))
	for t := range steps {
		if err := g.backward(ctx, m, k); err != nil {
			return err
		}
		k.sum(sums, t)
	}
	copy(g.sums.Update(steps*k.zlo, steps*k.zhi), sums)
	return m.Barrier(ctx)
}

// forward transforms the initial values: planes by the goroutines that have them, and then columns.
func (g *shared) forward(ctx context.Context, m dsm.Member, k *work) error {
	for z := k.zlo; z < k.zhi; z++ {
		k.start(g.grid.Overwrite(z*g.plane(), (z+1)*g.plane()), z)
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	for i := range g.nz {
		z := (k.zlo + i) % g.nz // each begins with its own part: they do not all read from one PE
		k.take(g.grid.View(z*g.plane()+k.ylo*g.nx, z*g.plane()+k.yhi*g.nx), z)
	}
	k.finish()
	return m.Barrier(ctx)
}

// backward makes a step: columns by the goroutines that have them, and then planes.
func (g *shared) backward(ctx context.Context, m dsm.Member, k *work) error {
	for y := k.ylo; y < k.yhi; y++ {
		k.advance(g.grid.Overwrite(y*g.column(), (y+1)*g.column()), y)
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	for i := range g.ny {
		y := (k.ylo + i) % g.ny // each begins with its own part: they do not all read from one PE
		k.put(g.grid.View(y*g.column()+k.zlo*g.nx, y*g.column()+k.zhi*g.nx), y)
	}
	return m.Barrier(ctx)
}
