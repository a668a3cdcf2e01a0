// Command transpose is the Transpose kernel of the Parallel Research Kernels: B += Aᵀ, A += 1, again and
// again, on two square matrices whose columns are spread over the PEs.
//
//	pgasrun -n 4 ./samples/transpose
//
// matrix.go has the algorithm. tests/peers/transpose.c is the same in C, by OpenSHMEM.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

const help = `transpose adds the transpose of a matrix to another one, again and again: B += Aᵀ, A += 1.

usage: pgasrun [pgasrun's flags] ./samples/transpose [flags]

  pgasrun -n 4 ./samples/transpose                        four PEs on this host
  pgasrun -n 4 ./samples/transpose -order 4096            larger matrices
  pgasrun -hosts a:2,b:2 -launch 'ssh {host}' /opt/transpose
                                                          half of all blocks go between hosts

Each PE has as many columns of A and of B as every other. What one PE has for another goes there by
put-with-signal while both go on packing. The rate counts each element of both matrices once an
iteration, as the Parallel Research Kernels do. All elements of B are checked at the end.

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
			return transpose(ctx, w, o, os.Stdout)
		case w.PE() != 0:
			bad = nil // one PE says it
		default:
			fmt.Print(text)
		}
		return nil
	})
	if bad != nil {
		fmt.Fprintln(os.Stderr, "transpose:", bad)
		os.Exit(2)
	}
}

// parse reads the command line. If it asks for help, that is the text.
func parse(args []string) (o options, text string, err error) {
	var b strings.Builder
	flags := flag.NewFlagSet("transpose", flag.ContinueOnError)
	flags.SetOutput(&b)
	flags.Usage = func() {}
	flags.IntVar(&o.order, "order", 2048, "`rows` and columns of each matrix, a multiple of the number of PEs")
	flags.IntVar(&o.iterations, "iterations", 50, "`times` that the transpose is added, after one that is not timed")
	flags.BoolVar(&o.json, "json", false, "print one JSON object, as pgasbench does")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.PrintDefaults()
		return o, help + b.String(), nil
	case err != nil:
		return o, "", fmt.Errorf("%w; -h lists the flags", err)
	case flags.NArg() > 0:
		return o, "", fmt.Errorf("unexpected argument %q; -h lists the flags", flags.Arg(0))
	case o.order < 1 || o.order > mostOrder:
		return o, "", fmt.Errorf("-order %d: give a number from 1 to %d", o.order, mostOrder)
	case o.iterations < 1 || o.iterations > mostIterations:
		return o, "", fmt.Errorf("-iterations %d: give a number from 1 to %d", o.iterations, mostIterations)
	}
	return o, "", nil
}

// Beyond these the elements of B would not be exact in a float64, and the check would need a tolerance.
const (
	mostOrder      = 1 << 16
	mostIterations = 1 << 20
)

// fits says whether each PE of a job gets as many columns as the others.
func (o options) fits(npes int) error {
	if o.order%npes == 0 {
		return nil
	}
	return fmt.Errorf("-order %d: must be a multiple of the %d PEs, such as %d", o.order, npes, o.order/npes*npes+npes)
}

// transpose runs the kernel and reports it. It is collective.
func transpose(ctx context.Context, w *pgas.World, o options, out io.Writer) error {
	m, err := newMatrices(ctx, w, o.order)
	if err != nil {
		return err
	}
	if err := m.iterate(ctx, 1); err != nil { // not timed: it touches all memory, and makes connections
		return err
	}
	took, err := m.timed(ctx, o.iterations)
	if err != nil {
		return err
	}
	wrong, err := m.error(ctx, 1+o.iterations)
	if err != nil || w.PE() != 0 {
		return err
	}
	if wrong != 0 {
		return fmt.Errorf("the elements of B are wrong by %g in all", wrong)
	}
	return report(out, w, o, took/time.Duration(o.iterations))
}

// timed runs so many iterations on all PEs, after the first.
func (m *matrices) timed(ctx context.Context, iterations int) (time.Duration, error) {
	if err := m.w.Barrier(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	for i := range iterations {
		if err := m.iterate(ctx, i+2); err != nil {
			return 0, err
		}
	}
	err := m.w.Barrier(ctx)
	return time.Since(start), err
}

// A line is what -json prints.
type line struct {
	Bench     string  `json:"bench"`
	Bytes     int     `json:"bytes"` // of both matrices
	PEs       int     `json:"pes"`
	Transport string  `json:"transport"`
	P50ns     float64 `json:"p50_ns"` // of an iteration
	MBps      float64 `json:"mbps"`
}

// report prints what an iteration took.
func report(out io.Writer, w *pgas.World, o options, iteration time.Duration) error {
	bytes := 2 * 8 * o.order * o.order
	rate := float64(bytes) / iteration.Seconds()
	if o.json {
		return json.NewEncoder(out).Encode(line{
			"transpose", bytes, w.NPEs(), w.TransportTo(w.NPEs() - 1), float64(iteration.Nanoseconds()), rate / 1e6,
		})
	}
	_, err := fmt.Fprintf(out, "order %d on %d PEs of %d host(s): %.3f ms an iteration, %.2f GB/s; B is right\n",
		o.order, w.NPEs(), len(w.Hosts()), iteration.Seconds()*1e3, rate/1e9)
	return err
}
