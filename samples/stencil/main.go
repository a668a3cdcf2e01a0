// Command stencil is the star-shaped Stencil kernel of the Parallel Research Kernels, of radius 2, on a
// square grid that is cut into one part for each PE.
//
//	pgasrun -n 4 ./samples/stencil
//
// grid.go has the algorithm. tests/peers/stencil.c is the same in C, by OpenSHMEM.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas"
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
	o, text, bad := parse(os.Args[1:])
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		if bad == nil && text == "" {
			bad = o.fits(w.NPEs())
		}
		switch {
		case bad == nil && text == "":
			return stencil(ctx, w, o, os.Stdout)
		case w.PE() != 0:
			bad = nil // one PE says it
		default:
			fmt.Print(text)
		}
		return nil
	})
	if bad != nil {
		fmt.Fprintln(os.Stderr, "stencil:", bad)
		os.Exit(2)
	}
}

const mostOrder = 1 << 16

// parse reads the command line. If it asks for help, that is the text.
func parse(args []string) (o options, text string, err error) {
	var b strings.Builder
	flags := flag.NewFlagSet("stencil", flag.ContinueOnError)
	flags.SetOutput(&b)
	flags.Usage = func() {}
	flags.IntVar(&o.order, "order", 2048, "`points` on each side of the grid")
	flags.IntVar(&o.iterations, "iterations", 50, "`times` that the stencil is applied, after one that is not timed")
	flags.BoolVar(&o.json, "json", false, "print one JSON object, as pgasbench does")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.PrintDefaults()
		return o, help + b.String(), nil
	case err != nil:
		return o, "", fmt.Errorf("%w; -h lists the flags", err)
	case flags.NArg() > 0:
		return o, "", fmt.Errorf("unexpected argument %q; -h lists the flags", flags.Arg(0))
	case o.order <= 2*radius || o.order > mostOrder:
		return o, "", fmt.Errorf("-order %d: give a number from %d to %d", o.order, 2*radius+1, mostOrder)
	case o.iterations < 1:
		return o, "", fmt.Errorf("-iterations %d: the stencil must be applied at least once", o.iterations)
	}
	return o, "", nil
}

// fits says whether each part of the grid is wide enough to give its neighbours an edge.
func (o options) fits(npes int) error {
	across, down := cut(npes)
	if least := radius * max(across, down); o.order < least {
		return fmt.Errorf("-order %d: the parts of %d x %d PEs are too small; give %d at least", o.order, across, down, least)
	}
	return nil
}

// tolerance is how far the norm may be from what it has to be.
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
	took, err := g.timed(ctx, o.iterations)
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

// timed runs so many iterations on all PEs, after the first.
func (g *grid) timed(ctx context.Context, iterations int) (time.Duration, error) {
	if err := g.w.Barrier(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	for i := range iterations {
		if err := g.iterate(ctx, uint64(i+2)); err != nil {
			return 0, err
		}
	}
	err := g.w.Barrier(ctx)
	return time.Since(start), err
}

// A line is what -json prints.
type line struct {
	Bench     string  `json:"bench"`
	Bytes     int     `json:"bytes"` // of both grids
	PEs       int     `json:"pes"`
	Transport string  `json:"transport"`
	P50ns     float64 `json:"p50_ns"` // of an iteration
	MBps      float64 `json:"mbps"`
}

// report prints what an iteration took.
func report(out io.Writer, g *grid, o options, iteration time.Duration) error {
	npes := g.w.NPEs()
	if o.json {
		bytes := 2 * 8 * o.order * o.order
		return json.NewEncoder(out).Encode(line{
			"stencil", bytes, npes, g.w.TransportTo(npes - 1), float64(iteration.Nanoseconds()), float64(bytes) / iteration.Seconds() / 1e6,
		})
	}
	inner := float64(o.order-2*radius) * float64(o.order-2*radius)
	_, err := fmt.Fprintf(out, "order %d on %d x %d PEs of %d host(s): %.3f ms an iteration, %.2f GFlop/s; the norm is right\n",
		o.order, g.across, g.down, len(g.w.Hosts()), iteration.Seconds()*1e3, inner*flops/iteration.Seconds()/1e9)
	return err
}
