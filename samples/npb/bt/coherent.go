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
	states  dsm.Array[state] // by columns
	changes dsm.Array[state] // by planes
}

// coherent solves the equations in goroutines of all PEs.
func coherent(ctx context.Context, w *pgas.World, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	var result benchmark.Result
	r, g, err := open(ctx, w, c, s)
	if err != nil {
		return result, err
	}
	err = r.Run(ctx, s.Goroutines, func(ctx context.Context, m dsm.Member) error {
		zlo, zhi := m.Share(c.n)
		ylo, yhi := m.Share(c.n)
		k := newWork(c, zlo, zhi, ylo, yhi)
		if err := g.run(ctx, m, k, 1); err != nil { // not timed: it touches all memory
			return err
		}
		start := time.Now()
		if err := g.run(ctx, m, k, c.steps); err != nil {
			return err
		}
		took := time.Since(start)
		sums, err := g.norms(ctx, m, k)
		if m.ID() == 0 {
			result = c.result(sums, took)
		}
		return err
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
	r, err := dsm.Open(ctx, w, dsm.Options{Bytes: uint64(2*40*c.size() + 1<<20)})
	if err != nil {
		return nil, nil, err
	}
	if g.states, err = dsm.Alloc[state](ctx, r, c.size()); err != nil {
		return nil, nil, err
	}
	g.changes, err = dsm.Alloc[state](ctx, r, c.size())
	return r, g, err
}

// run makes so many steps from the initial values.
func (g *shared) run(ctx context.Context, m dsm.Member, k *work, steps int) error {
	for y := k.ylo; y < k.yhi; y++ {
		k.start(g.states.Overwrite(y*g.plane(), (y+1)*g.plane()), y)
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	for range steps {
		changes := g.residual(k)
		k.sweep(changes)
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		for i := range g.n {
			z := (k.zlo + i) % g.n // each begins with its own part: they do not all read from one PE
			k.put(g.changes.View(z*g.plane()+k.ylo*g.n, z*g.plane()+k.yhi*g.n), z)
		}
		k.finish(g.states.Update(k.ylo*g.plane(), k.yhi*g.plane()))
		if err := m.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// residual computes what the equations ask for in the planes of this goroutine, and returns it.
func (g *shared) residual(k *work) []state {
	for i := range g.n {
		y := (k.ylo + i) % g.n // each begins with its own part: they do not all read from one PE
		k.take(g.states.View(y*g.plane()+k.below*g.n, y*g.plane()+k.above*g.n), y)
	}
	changes := g.changes.Overwrite(k.zlo*g.plane(), k.zhi*g.plane())
	k.residual(changes)
	return changes
}

// norms returns the sums of squares of the residual and of the error.
func (g *shared) norms(ctx context.Context, m dsm.Member, k *work) ([]float64, error) {
	residual := g.residual(k)
	return m.Sum(ctx, k.sums(residual, g.states.View(k.ylo*g.plane(), k.yhi*g.plane()))...)
}
