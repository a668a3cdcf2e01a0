package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// sequential solves the equation in one goroutine.
func sequential(ctx context.Context, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	grid, sums := make([]complex128, c.size()), make([]complex128, steps*c.nz)
	k := newWork(c, 0, c.nz, 0, c.ny)
	k.forward(grid) // not timed: it touches all memory
	start := time.Now()
	k.forward(grid)
	for t := range steps {
		for y := range c.ny {
			column := grid[y*c.column() : (y+1)*c.column()]
			k.advance(column, y)
			k.put(column, y)
		}
		k.sum(sums, t)
		if ctx.Err() != nil {
			return benchmark.Result{}, context.Cause(ctx)
		}
	}
	return c.result(sums, time.Since(start)), nil
}

// forward transforms the initial values. It uses the grid for planes.
func (k *work) forward(grid []complex128) {
	for z := range k.nz {
		plane := grid[z*k.plane() : (z+1)*k.plane()]
		k.start(plane, z)
		k.take(plane, z)
	}
	k.finish()
}
