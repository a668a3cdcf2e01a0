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
	grid []complex128 // planes, and later columns
	sums []complex128 // of plane z after step t, at z*steps+t
}

// goroutines solves the equation in goroutines of this process.
func goroutines(ctx context.Context, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	g := &solver{c, make([]complex128, c.size()), make([]complex128, steps*c.nz)}
	var result benchmark.Result
	err := parallel.Run(ctx, s.Goroutines, func(ctx context.Context, m parallel.Member) error {
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
			result = c.result(g.sums, time.Since(start))
		}
		return nil
	})
	return result, err
}

// solve transforms the initial values and makes all steps.
func (g *solver) solve(ctx context.Context, m parallel.Member, k *work) error {
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
	copy(g.sums[steps*k.zlo:steps*k.zhi], sums)
	return m.Barrier(ctx)
}

// forward transforms the initial values: planes by the goroutines that have them, and then columns.
func (g *solver) forward(ctx context.Context, m parallel.Member, k *work) error {
	for z := k.zlo; z < k.zhi; z++ {
		k.start(g.grid[z*g.plane():(z+1)*g.plane()], z)
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	for i := range g.nz {
		z := (k.zlo + i) % g.nz // each begins with its own part: they do not all read from one PE
		k.take(g.grid[z*g.plane()+k.ylo*g.nx:z*g.plane()+k.yhi*g.nx], z)
	}
	k.finish()
	return m.Barrier(ctx)
}

// backward makes a step: columns by the goroutines that have them, and then planes.
func (g *solver) backward(ctx context.Context, m parallel.Member, k *work) error {
	for y := k.ylo; y < k.yhi; y++ {
		k.advance(g.grid[y*g.column():(y+1)*g.column()], y)
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	for i := range g.ny {
		y := (k.ylo + i) % g.ny // each begins with its own part: they do not all read from one PE
		k.put(g.grid[y*g.column()+k.zlo*g.nx:y*g.column()+k.zhi*g.nx], y)
	}
	return m.Barrier(ctx)
}
