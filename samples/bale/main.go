// Command bale is five kernels of bale (J. DeVinney and J. Gilbert, "Bale", 2020) on package containers: small accesses
// anywhere, which nothing but aggregation makes fast between hosts.
//
//	pgasrun -n 4 ./samples/bale -kernel histogram
//
// Each kernel has a file of its own; random.go has what they draw, matrix.go their sparse matrices. tests/peers/bale.c
// is the same in C, by OpenSHMEM, an access at a time.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/kernel"
)

const help = `bale runs one of five kernels of the benchmark of that name, checks what it has computed, and reports the time of
one of its operations.

usage: pgasrun [pgasrun's flags] ./samples/bale [flags]

  pgasrun -n 4 ./samples/bale -kernel histogram           adds 1 to random words of a table
  pgasrun -n 4 ./samples/bale -kernel gather              reads random words of a table
  pgasrun -n 4 ./samples/bale -kernel permutation         makes a random permutation by throwing darts
  pgasrun -n 4 ./samples/bale -kernel sparse              transposes a sparse matrix
  pgasrun -n 4 ./samples/bale -kernel triangles           counts the triangles of a random graph
  pgasrun -netns 2x2 ./samples/bale -kernel gather        on two hosts made of this one

flags:
`

type options struct {
	kernel    string
	logarithm int
	ops       int
	degree    int
	json      bool
}

// A run is one kernel, set up. Its calls are collective.
type run struct {
	ops   int // operations of all PEs together
	bytes int // what an operation works on
	work  func(ctx context.Context) error
	check func(ctx context.Context) error
}

var kernels = map[string]func(ctx context.Context, w *pgas.World, o options) (run, error){
	"histogram":   histogram,
	"gather":      gather,
	"permutation": permutation,
	"sparse":      transpose,
	"triangles":   triangles,
}

func main() {
	var o options
	kernel.Main(&kernel.Kernel{
		Name:  "bale",
		Help:  help,
		Flags: o.flags,
		Check: o.check,
		Run: func(ctx context.Context, w *pgas.World, out io.Writer) error {
			return bale(ctx, w, o, out)
		},
	})
}

func (o *options) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.kernel, "kernel", "histogram", "which `kernel` to run")
	fs.IntVar(&o.logarithm, "log", 20, "two to the power of this `number` words, darts, rows or vertices")
	fs.IntVar(&o.ops, "ops", 0, "`operations` of all PEs together, for histogram and gather (default: one for each word)")
	fs.IntVar(&o.degree, "degree", 10, "`nonzeros` drawn for each row, for sparse and triangles")
	fs.BoolVar(&o.json, "json", false, "print one JSON object, as pgasbench does")
}

// Rows and words are numbered by 32 bits.
const leastLogarithm, mostLogarithm = 4, 31

// check returns an error for flags that are out of range.
func (o *options) check(int) error {
	switch {
	case kernels[o.kernel] == nil:
		return fmt.Errorf("-kernel %q: give one of %s", o.kernel, strings.Join(slices.Sorted(maps.Keys(kernels)), ", "))
	case o.logarithm < leastLogarithm || o.logarithm > mostLogarithm:
		return fmt.Errorf("-log %d: give a number from %d to %d", o.logarithm, leastLogarithm, mostLogarithm)
	case o.ops < 0 || o.ops > 1<<40:
		return fmt.Errorf("-ops %d: give a number from 0 to %d", o.ops, 1<<40)
	case o.degree < 1 || o.degree > 1000:
		return fmt.Errorf("-degree %d: give a number from 1 to 1000", o.degree)
	}
	return nil
}

// bale runs a kernel and reports it. It is collective.
func bale(ctx context.Context, w *pgas.World, o options, out io.Writer) error {
	if o.ops == 0 {
		o.ops = 1 << o.logarithm
	}
	r, err := kernels[o.kernel](ctx, w, o)
	if err != nil {
		return err
	}
	took, err := kernel.Time(ctx, w, 1, func(int) error { return r.work(ctx) })
	if err != nil {
		return err
	}
	if err := r.check(ctx); err != nil || w.PE() != 0 {
		return err
	}
	return report(out, w, o, r, took)
}

// report prints the rate.
func report(out io.Writer, w *pgas.World, o options, r run, took time.Duration) error {
	ns := float64(took.Nanoseconds()) / float64(max(r.ops, 1))
	if o.json {
		return kernel.Result{Bench: o.kernel, Bytes: r.bytes, P50ns: ns, Mops: 1e3 / ns}.Print(out, w)
	}
	_, err := fmt.Fprintf(out, "%s: %d operations on %d PEs of %d host(s) in %v, %.3g ns each; the result is right\n",
		o.kernel, r.ops, w.NPEs(), len(w.Hosts()), took.Round(time.Microsecond), ns)
	return err
}
