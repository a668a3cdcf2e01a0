// Command stencil is the star-shaped Stencil kernel of the Parallel Research Kernels, of radius 2, on a
// square grid that is cut into one part for each PE.
//
//	pgasrun -n 4 ./samples/stencil
//
// grid.go has the algorithm. tests/peers/stencil.c is the same in C, by OpenSHMEM.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/kernel"
)

const help = `stencil adds to each point of a square grid what its eight nearest neighbours on the two axes make of
it, again and again.

usage: pgasrun [pgasrun's flags] ./samples/stencil [flags]

  pgasrun -n 4 ./samples/stencil                          2 x 2 PEs on this host
  pgasrun -n 4 ./samples/stencil -order 8192              a larger grid
  pgasrun -hosts a:2,b:2 -launch 'ssh {host}' /opt/stencil
                                                          the cut between hosts goes across the grid

Each PE has a part of the grid, as nearly square as the number of PEs allows, and puts its two outermost
rows and columns to its neighbours, with a signal. The rate counts 19 floating-point operations for each
inner point, as the Parallel Research Kernels do. The norm of the result is checked at the end.

flags:
`

type options struct {
	order, iterations int
	json              bool
}

func main() {
	var o options
	kernel.Main(&kernel.Kernel{
		Name:  "stencil",
		Help:  help,
		Flags: o.flags,
		Check: o.check,
		Run: func(ctx context.Context, w *pgas.World, out io.Writer) error {
			return stencil(ctx, w, o, out)
		},
	})
}

func (o *options) flags(fs *flag.FlagSet) {
	fs.IntVar(&o.order, "order", 2048, "`points` on each side of the grid")
	fs.IntVar(&o.iterations, "iterations", 50, "`times` that the stencil is applied, after one that is not timed")
	fs.BoolVar(&o.json, "json", false, "print one JSON object, as pgasbench does")
}

const mostOrder = 1 << 16

// check returns an error for flags that are out of range, or if a part of the grid is too narrow to give its
// neighbours an edge.
func (o *options) check(npes int) error {
	across, down := cut(npes)
	least := radius * max(across, down)
	switch {
	case o.order <= 2*radius || o.order > mostOrder:
		return fmt.Errorf("-order %d: give a number from %d to %d", o.order, 2*radius+1, mostOrder)
	case o.iterations < 1:
		return fmt.Errorf("-iterations %d: the stencil must be applied at least once", o.iterations)
	case o.order < least:
		return fmt.Errorf("-order %d: the parts of %d x %d PEs are too small; give %d at least", o.order, across, down, least)
	}
	return nil
}

// tolerance is how far the norm may be from its exact value.
const tolerance = 1e-8

// stencil runs the kernel and reports it. It is collective.
func stencil(ctx context.Context, w *pgas.World, o options, out io.Writer) error {
	g, err := newGrid(ctx, w, o.order)
	if err != nil {
		return err
	}
	if err := g.iterate(ctx, 1); err != nil { // not timed: it touches all memory, and makes connections
		return err
	}
	took, err := kernel.Time(ctx, w, o.iterations, func(i int) error { return g.iterate(ctx, uint64(i+2)) })
	if err != nil {
		return err
	}
	norm, err := g.norm(ctx)
	if err != nil || w.PE() != 0 {
		return err
	}
	if want := 2 * float64(1+o.iterations); math.Abs(norm-want) > tolerance {
		return fmt.Errorf("the norm is %.12g, not %.12g", norm, want)
	}
	return report(out, g, o, took/time.Duration(o.iterations))
}

// report prints how long an iteration took.
func report(out io.Writer, g *grid, o options, iteration time.Duration) error {
	if o.json {
		bytes := 2 * 8 * o.order * o.order // of both grids
		return kernel.Result{
			Bench: "stencil", Bytes: bytes, P50ns: float64(iteration.Nanoseconds()), MBps: float64(bytes) / iteration.Seconds() / 1e6,
		}.Print(out, g.w)
	}
	inner := float64(o.order-2*radius) * float64(o.order-2*radius)
	_, err := fmt.Fprintf(out, "order %d on %d x %d PEs of %d host(s): %.3f ms an iteration, %.2f GFlop/s; the norm is right\n",
		o.order, g.across, g.down, len(g.w.Hosts()), iteration.Seconds()*1e3, inner*flops/iteration.Seconds()/1e9)
	return err
}
