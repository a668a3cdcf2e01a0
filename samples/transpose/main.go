// Command transpose is the Transpose kernel of the Parallel Research Kernels: B += Aᵀ, A += 1, again and
// again, on two square matrices whose columns are spread over the PEs.
//
//	pgasrun -n 4 ./samples/transpose
//
// matrix.go has the algorithm. tests/peers/transpose.c is the same in C, by OpenSHMEM.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/kernel"
)

const help = `transpose adds the transpose of a matrix to another one, again and again: B += Aᵀ, A += 1.

usage: pgasrun [pgasrun's flags] ./samples/transpose [flags]

  pgasrun -n 4 ./samples/transpose                        four PEs on this host
  pgasrun -n 4 ./samples/transpose -order 4096            larger matrices
  pgasrun -hosts a:2,b:2 -launch 'ssh {host}' /opt/transpose
                                                          half of all blocks go between hosts

Each PE has as many columns of A and of B as every other. What one PE has for another is packed in the other's
memory if both are on one host, and else goes there by put-with-signal while both go on packing. The rate counts each element of both matrices once an
iteration, as the Parallel Research Kernels do. All elements of B are checked at the end.

flags:
`

type options struct {
	order, iterations int
	json              bool
}

func main() {
	var o options
	kernel.Main(&kernel.Kernel{
		Name:  "transpose",
		Help:  help,
		Flags: o.flags,
		Check: o.check,
		Run: func(ctx context.Context, w *pgas.World, out io.Writer) error {
			return transpose(ctx, w, o, out)
		},
	})
}

func (o *options) flags(fs *flag.FlagSet) {
	fs.IntVar(&o.order, "order", 2048, "`rows` and columns of each matrix, a multiple of the number of PEs")
	fs.IntVar(&o.iterations, "iterations", 50, "`times` that the transpose is added, after one that is not timed")
	fs.BoolVar(&o.json, "json", false, "print one JSON object, as pgasbench does")
}

// Beyond these the elements of B would not be exact in a float64, and the check would need a tolerance.
const (
	mostOrder      = 1 << 16
	mostIterations = 1 << 20
)

// check returns an error for flags that are out of range, or if the PEs do not get the same number of columns.
func (o *options) check(npes int) error {
	switch {
	case o.order < 1 || o.order > mostOrder:
		return fmt.Errorf("-order %d: give a number from 1 to %d", o.order, mostOrder)
	case o.iterations < 1 || o.iterations > mostIterations:
		return fmt.Errorf("-iterations %d: give a number from 1 to %d", o.iterations, mostIterations)
	case o.order%npes != 0:
		return fmt.Errorf("-order %d: must be a multiple of the %d PEs, such as %d", o.order, npes, o.order/npes*npes+npes)
	}
	return nil
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
	took, err := kernel.Time(ctx, w, o.iterations, func(i int) error { return m.iterate(ctx, i+2) })
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

// report prints how long an iteration took.
func report(out io.Writer, w *pgas.World, o options, iteration time.Duration) error {
	bytes := 2 * 8 * o.order * o.order // of both matrices
	rate := float64(bytes) / iteration.Seconds()
	if o.json {
		return kernel.Result{Bench: "transpose", Bytes: bytes, P50ns: float64(iteration.Nanoseconds()), MBps: rate / 1e6}.Print(out, w)
	}
	_, err := fmt.Fprintf(out, "order %d on %d PEs of %d host(s): %.3f ms an iteration, %.2f GB/s; B is right\n",
		o.order, w.NPEs(), len(w.Hosts()), iteration.Seconds()*1e3, rate/1e9)
	return err
}
