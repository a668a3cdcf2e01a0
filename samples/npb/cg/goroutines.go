package main

import (
	"context"
	"math"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
	"github.com/gopgas/gopgas/samples/npb/parallel"
)

// threads is what the goroutines share.
type threads struct {
	class
	start   []int64 // of each row; what follows are the matrix's entries
	columns []int32
	values  []float64
	p       []float64
}

// goroutines runs the benchmark in goroutines of this process. Each has a part of the rows.
func goroutines(ctx context.Context, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	t := &threads{class: c, start: make([]int64, c.n+1), p: make([]float64, c.n)}
	t.columns, t.values = make([]int32, c.entries()), make([]float64, c.entries())
	var zeta float64
	var took time.Duration
	err := parallel.Run(ctx, s.Goroutines, func(ctx context.Context, m parallel.Member) error {
		if err := t.fill(ctx, m); err != nil {
			return err
		}
		if _, err := t.iterate(ctx, m, 1); err != nil {
			return err
		}
		start := time.Now()
		got, err := t.iterate(ctx, m, c.iterations)
		if m.ID() == 0 {
			zeta, took = got, time.Since(start)
		}
		return err
	})
	return c.result(zeta, took), err
}

// fill makes the rows of a member and stores them behind those of the members before it.
func (t *threads) fill(ctx context.Context, m parallel.Member) error {
	lo, hi := m.Share(t.n)
	own := t.rows(lo, hi)
	lengths := t.start[lo+1 : hi+1]
	for i := range lengths {
		lengths[i] = own.start[i+1] - own.start[i]
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	if m.ID() == 0 {
		start := t.start
		for i := range t.n {
			start[i+1] += start[i]
		}
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	from, to := t.start[lo], t.start[hi]
	copy(t.columns[from:to], own.columns)
	copy(t.values[from:to], own.values)
	return m.Barrier(ctx)
}

// rowsOf returns the rows of the matrix from lo to hi-1.
func (t *threads) rowsOf(lo, hi int) matrix {
	start := t.start[lo : hi+1]
	from, to := start[0], start[hi-lo]
	return matrix{start, t.columns[from:to], t.values[from:to]}
}

// iterate makes n iterations and returns the estimate of the eigenvalue.
func (t *threads) iterate(ctx context.Context, m parallel.Member, n int) (zeta float64, err error) {
	lo, hi := m.Share(t.n)
	x, z, r, q := make([]float64, hi-lo), make([]float64, hi-lo), make([]float64, hi-lo), make([]float64, hi-lo)
	ones(x)
	for range n {
		if _, err := t.solve(ctx, m, x, z, r, q); err != nil {
			return 0, err
		}
		sums, err := m.Sum(ctx, dot(x, z), dot(z, z))
		if err != nil {
			return 0, err
		}
		zeta = t.shift + 1/sums[0]
		scale(x, 1/math.Sqrt(sums[1]), z)
	}
	return zeta, nil
}

// solve makes the steps of the conjugate gradient method, and returns the norm of what is left of x. A member writes
// its part of p; all of p is read in a product. The sum behind the product ends when all have read it.
func (t *threads) solve(ctx context.Context, m parallel.Member, x, z, r, q []float64) (float64, error) {
	lo, hi := m.Share(t.n)
	clear(z)
	copy(r, x)
	copy(t.p[lo:hi], r)
	sums, err := m.Sum(ctx, dot(r, r))
	if err != nil {
		return 0, err
	}
	rho := sums[0]
	for range steps {
		if err := m.Barrier(ctx); err != nil {
			return 0, err
		}
		t.rowsOf(lo, hi).multiply(q, t.p)
		p := t.p[lo:hi]
		if sums, err = m.Sum(ctx, dot(p, q)); err != nil {
			return 0, err
		}
		alpha := rho / sums[0]
		if sums, err = m.Sum(ctx, advance(z, r, alpha, p, q)); err != nil {
			return 0, err
		}
		direct(p, r, sums[0]/rho)
		rho = sums[0]
	}
	copy(t.p[lo:hi], z)
	if err := m.Barrier(ctx); err != nil {
		return 0, err
	}
	t.rowsOf(lo, hi).multiply(r, t.p)
	if sums, err = m.Sum(ctx, distance(x, r)); err != nil {
		return 0, err
	}
	return math.Sqrt(sums[0]), nil
}
