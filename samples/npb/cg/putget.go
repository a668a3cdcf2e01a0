package main

// The version over symmetric memory: each PE keeps its rows and its parts of the vectors as its own. Before a product
// the PEs collect the vector, so that each has all of it.

import (
	"context"
	"math"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// node is one PE's part of the problem.
type node struct {
	class
	team       *pgas.Team
	a          matrix
	x, z, r, q []float64
	part       pgas.Slice[float64] // this PE's part of a vector that is to be multiplied
	whole      pgas.Slice[float64] // all of it
	sums       pgas.Slice[float64] // what is added over all PEs
}

// sumsAtOnce is the greatest number of values that one call of sum adds.
const sumsAtOnce = 2

// putget runs the benchmark on the PEs of a job, in one goroutine each.
func putget(ctx context.Context, w *pgas.World, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	lo, hi := w.PE()*c.n/w.NPEs(), (w.PE()+1)*c.n/w.NPEs()
	most := (c.n + w.NPEs() - 1) / w.NPEs() // rows of a PE
	memory, err := pgas.Alloc[float64](ctx, w, most+c.n+sumsAtOnce)
	if err != nil {
		return benchmark.Result{}, err
	}
	e := &node{class: c, team: w.Team(), a: c.rows(lo, hi)}
	for _, v := range []*[]float64{&e.x, &e.z, &e.r, &e.q} {
		*v = make([]float64, hi-lo)
	}
	e.part, e.whole, e.sums = memory.Range(0, hi-lo), memory.Range(most, most+c.n), memory.Range(most+c.n, most+c.n+sumsAtOnce)
	if _, err := e.iterate(ctx, 1); err != nil {
		return benchmark.Result{}, err
	}
	start := time.Now()
	zeta, err := e.iterate(ctx, c.iterations)
	took := time.Since(start)
	if err != nil {
		return benchmark.Result{}, err
	}
	return c.result(zeta, took), memory.Free(ctx)
}

// sum returns the sums of each x over all PEs. The result is overwritten by the next call.
func (e *node) sum(ctx context.Context, x ...float64) ([]float64, error) {
	s := e.sums.Range(0, len(x))
	copy(s.Local(), x)
	err := pgas.SumReduce(ctx, e.team, s, s, pgas.Reproducible())
	return s.Local(), err
}

// multiply sets q to the PE's rows of the matrix times the vector that the PEs have the parts of.
func (e *node) multiply(ctx context.Context, q []float64) error {
	if _, err := pgas.Collect(ctx, e.team, e.whole, e.part); err != nil {
		return err
	}
	e.a.multiply(q, e.whole.Local())
	return nil
}

// iterate makes n iterations and returns the estimate of the eigenvalue.
func (e *node) iterate(ctx context.Context, n int) (zeta float64, err error) {
	ones(e.x)
	for range n {
		if _, err := e.solve(ctx); err != nil {
			return 0, err
		}
		sums, err := e.sum(ctx, dot(e.x, e.z), dot(e.z, e.z))
		if err != nil {
			return 0, err
		}
		zeta = e.shift + 1/sums[0]
		scale(e.x, 1/math.Sqrt(sums[1]), e.z)
	}
	return zeta, nil
}

// solve makes the steps of the conjugate gradient method, and returns the norm of what is left of x.
func (e *node) solve(ctx context.Context) (float64, error) {
	p := e.part.Local()
	clear(e.z)
	copy(e.r, e.x)
	copy(p, e.r)
	sums, err := e.sum(ctx, dot(e.r, e.r))
	if err != nil {
		return 0, err
	}
	rho := sums[0]
	for range steps {
		if err := e.multiply(ctx, e.q); err != nil {
			return 0, err
		}
		if sums, err = e.sum(ctx, dot(p, e.q)); err != nil {
			return 0, err
		}
		if sums, err = e.sum(ctx, advance(e.z, e.r, rho/sums[0], p, e.q)); err != nil {
			return 0, err
		}
		direct(p, e.r, sums[0]/rho)
		rho = sums[0]
	}
	copy(p, e.z)
	if err := e.multiply(ctx, e.r); err != nil {
		return 0, err
	}
	if sums, err = e.sum(ctx, distance(e.x, e.r)); err != nil {
		return 0, err
	}
	return math.Sqrt(sums[0]), nil
}
