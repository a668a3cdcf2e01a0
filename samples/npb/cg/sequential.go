package main

import (
	"context"
	"math"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// sequential runs the benchmark in one goroutine. The first iteration is not timed, and its result is thrown away.
func sequential(ctx context.Context, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	a := c.rows(0, c.n)
	x, z, r, p, q := make([]float64, c.n), make([]float64, c.n), make([]float64, c.n), make([]float64, c.n), make([]float64, c.n)
	var zeta float64
	iterate := func(n int) error {
		ones(x)
		for range n {
			a.solve(x, z, r, p, q)
			zeta = c.shift + 1/dot(x, z)
			scale(x, 1/math.Sqrt(dot(z, z)), z)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		return nil
	}
	if err := iterate(1); err != nil {
		return benchmark.Result{}, err
	}
	start := time.Now()
	err := iterate(c.iterations)
	return c.result(zeta, time.Since(start)), err
}

// solve makes the steps of the conjugate gradient method for a z = x, and returns the norm of what is left of x. r, p
// and q are work space.
func (a matrix) solve(x, z, r, p, q []float64) float64 {
	clear(z)
	copy(r, x)
	copy(p, r)
	rho := dot(r, r)
	for range steps {
		a.multiply(q, p)
		next := advance(z, r, rho/dot(p, q), p, q)
		direct(p, r, next/rho)
		rho = next
	}
	a.multiply(r, z)
	return math.Sqrt(distance(x, r))
}
