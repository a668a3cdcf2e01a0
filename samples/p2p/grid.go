package main

// One PE's columns of the grid, and the rows of an iteration on them.
//
// The grid has rows and columns numbered from 0. Row 0 and column 0 are given, and every other point is
//
//	A(i, j) = A(i-1, j) + A(i, j-1) - A(i-1, j-1)
//
// so a PE can compute a row when it has the row before, and the last point of this row from the PE to its
// left. It computes rows as these points arrive: that is the pipeline. When the last PE has computed the last row, its
// last point goes, negated, to the first point of the grid, where the next iteration begins. The arrival of that point
// proves that all PEs have computed all rows, so a new iteration overwrites nothing that is still to be read.

import (
	"context"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/versions"
)

const noPE = -1

type grid struct {
	*versions.Run
	o           *options
	left, right int // PEs, or noPE
	first       int // columns that are to the left of this PE's, without the given one
	width       int // of this PE's columns
	cells       []float64
	halo        pgas.Sym[float64] // by row: the column to the left of this PE's
	done        int               // iterations
}

// newGrid makes the grid of this PE. It is collective.
func newGrid(ctx context.Context, r *versions.Run, o *options) (*grid, error) {
	g := &grid{Run: r, o: o, left: r.PE() - 1, right: r.PE() + 1}
	if g.right == r.NPEs() {
		g.right = noPE
	}
	first, end := o.share(r.PE(), r.NPEs())
	g.first, g.width = first, end-first
	g.cells = make([]float64, (o.rows+1)*g.width)
	for i := range g.row(0) {
		g.row(0)[i] = float64(first + i + 1)
	}
	var err error
	if g.halo, err = pgas.Alloc[float64](ctx, r.World, o.rows+1); err != nil {
		return nil, err
	}
	halo := g.halo.Local()
	halo[0] = float64(first)
	if g.left == noPE {
		for j := range halo {
			halo[j] = float64(j)
		}
	}
	return g, r.Barrier(ctx) // no PE writes before all have set up their part
}

func (g *grid) row(j int) []float64 { return g.cells[j*g.width : (j+1)*g.width] }

// compute computes row j.
func (g *grid) compute(ctx context.Context, j int) error {
	halo := g.halo.Local()
	next(g.row(j), g.row(j-1), halo[j], halo[j-1])
	return g.Charge(ctx, g.o.computing(g.width))
}

// next computes a row from the one above it, and from the points to the left of both.
func next(row, above []float64, left, corner float64) {
	for i, up := range above {
		left += up - corner
		corner, row[i] = up, left
	}
}

// last returns the last point of row j.
func (g *grid) last(j int) float64 { return g.row(j)[g.width-1] }

// check returns an error unless the last row is what that many iterations make of it, by a formula: each adds the
// length of both sides to every point except those that are given.
func (g *grid) check() error {
	for i, got := range g.row(g.o.rows) {
		column := g.first + i + 1
		around := float64(g.done-1) * float64(g.o.rows+g.o.all(g.NPEs()))
		if want := around + float64(g.o.rows+column); got != want {
			return fmt.Errorf("the last row has %v in column %d, want %v", got, column, want)
		}
	}
	return nil
}

// A pipeline is a grid and the link by which its points move.
type pipeline struct {
	*grid
	iterate func(ctx context.Context) error
	close   func(ctx context.Context) error
}

// Round implements versions.Version. It returns the time of an iteration.
func (p *pipeline) Round(ctx context.Context) (time.Duration, error) {
	start, err := p.Start(ctx)
	if err != nil {
		return 0, err
	}
	for range p.o.iterations {
		if err := p.iterate(ctx); err != nil {
			return 0, err
		}
		p.done++
	}
	took := p.Now() - start
	if err := p.check(); err != nil {
		return 0, err
	}
	return p.Slowest(ctx, took/time.Duration(p.o.iterations))
}

// Close implements versions.Version.
func (p *pipeline) Close(ctx context.Context) error {
	if err := p.close(ctx); err != nil {
		return err
	}
	return p.halo.Free(ctx)
}
