package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
	"github.com/gopgas/gopgas/samples/npb/parallel"
)

// solver is what the goroutines share.
type solver struct {
	class
	states  []state // by columns
	changes []state // by planes
}

// goroutines solves the equations in goroutines of this process.
func goroutines(ctx context.Context, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	g := &solver{c, make([]state, c.size()), make([]state, c.size())}
	var result benchmark.Result
	err := parallel.Run(ctx, s.Goroutines, func(ctx context.Context, m parallel.Member) error {
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
	return result, err
}

// run makes so many steps from the initial values.
func (g *solver) run(ctx context.Context, m parallel.Member, k *work, steps int) error {
	for y := k.ylo; y < k.yhi; y++ {
		k.start(g.states[y*g.plane():(y+1)*g.plane()], y)
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
			k.put(g.changes[z*g.plane()+k.ylo*g.n:z*g.plane()+k.yhi*g.n], z)
		}
		k.finish(g.states[k.ylo*g.plane() : k.yhi*g.plane()])
		if err := m.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// residual computes what the equations ask for in the planes of this goroutine, and returns it.
func (g *solver) residual(k *work) []state {
	for i := range g.n {
		y := (k.ylo + i) % g.n // each begins with its own part: they do not all read from one PE
		k.take(g.states[y*g.plane()+k.below*g.n:y*g.plane()+k.above*g.n], y)
	}
	changes := g.changes[k.zlo*g.plane() : k.zhi*g.plane()]
	k.residual(changes)
	return changes
}

// norms returns the sums of squares of the residual and of the error.
func (g *solver) norms(ctx context.Context, m parallel.Member, k *work) ([]float64, error) {
	residual := g.residual(k)
	return m.Sum(ctx, k.sums(residual, g.states[k.ylo*g.plane():k.yhi*g.plane()])...)
}
