package main

import (
	"context"
	"math"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// pages is what the goroutines of all PEs share.
type pages struct {
	class
	start   dsm.Array[int64] // of each row; what follows are the matrix's entries
	columns dsm.Array[int32]
	values  dsm.Array[float64]
	p       dsm.Array[float64]
}

// newPages makes a region and its arrays, each on blocks of its own.
func newPages(ctx context.Context, w *pgas.World, s benchmark.Setup, c class) (*pages, *dsm.Region, error) {
	const arrays, block = 4, 32 << 10
	r, err := dsm.Open(ctx, w, dsm.Options{Bytes: uint64(12*c.entries()+16*c.n+8) + arrays*block, Block: block})
	if err != nil {
		return nil, nil, err
	}
	t := &pages{class: c}
	if t.start, err = dsm.Alloc[int64](ctx, r, c.n+1); err != nil {
		return nil, nil, err
	}
	if t.columns, err = dsm.Alloc[int32](ctx, r, c.entries()); err != nil {
		return nil, nil, err
	}
	if t.values, err = dsm.Alloc[float64](ctx, r, c.entries()); err != nil {
		return nil, nil, err
	}
	t.p, err = dsm.Alloc[float64](ctx, r, c.n)
	return t, r, err
}

// coherent runs the benchmark in goroutines of all PEs. Each has a part of the rows.
func coherent(ctx context.Context, w *pgas.World, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	t, region, err := newPages(ctx, w, s, c)
	if err != nil {
		return benchmark.Result{}, err
	}
	var zeta float64
	var took time.Duration
	err = region.Run(ctx, s.Goroutines, func(ctx context.Context, m dsm.Member) error {
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
	if err != nil {
		return benchmark.Result{}, err
	}
	return c.result(zeta, took), region.Close(ctx)
}

// fill makes the rows of a member and stores them behind those of the members before it.
func (t *pages) fill(ctx context.Context, m dsm.Member) error {
	lo, hi := m.Share(t.n)
	own := t.rows(lo, hi)
	lengths := t.start.Update(lo+1, hi+1)
	for i := range lengths {
		lengths[i] = own.start[i+1] - own.start[i]
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	if m.ID() == 0 {
		start := t.start.Update(0, t.n+1)
		for i := range t.n {
			start[i+1] += start[i]
		}
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	from, to := int(t.start.At(lo)), int(t.start.At(hi))
	copy(t.columns.Update(from, to), own.columns)
	copy(t.values.Update(from, to), own.values)
	return m.Barrier(ctx)
}

// rowsOf returns the rows of the matrix from lo to hi-1.
func (t *pages) rowsOf(lo, hi int) matrix {
	start := t.start.View(lo, hi+1)
	from, to := int(start[0]), int(start[hi-lo])
	return matrix{start, t.columns.View(from, to), t.values.View(from, to)}
}

// iterate makes n iterations and returns the estimate of the eigenvalue.
func (t *pages) iterate(ctx context.Context, m dsm.Member, n int) (zeta float64, err error) {
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
func (t *pages) solve(ctx context.Context, m dsm.Member, x, z, r, q []float64) (float64, error) {
	lo, hi := m.Share(t.n)
	clear(z)
	copy(r, x)
	copy(t.p.Overwrite(lo, hi), r)
	sums, err := m.Sum(ctx, dot(r, r))
	if err != nil {
		return 0, err
	}
	rho := sums[0]
	for range steps {
		if err := m.Barrier(ctx); err != nil {
			return 0, err
		}
		t.rowsOf(lo, hi).multiply(q, t.p.View(0, t.n))
		p := t.p.Update(lo, hi)
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
	copy(t.p.Overwrite(lo, hi), z)
	if err := m.Barrier(ctx); err != nil {
		return 0, err
	}
	t.rowsOf(lo, hi).multiply(r, t.p.View(0, t.n))
	if sums, err = m.Sum(ctx, distance(x, r)); err != nil {
		return 0, err
	}
	return math.Sqrt(sums[0]), nil
}
