// Heat solves the heat equation on PEs in two ways, by puts and over coherent memory, and prints how uneven the
// grid is at the end and how long the steps took:
//
//	pgasrun -n 2 heat -version coherent
//	pgasrun -n 2 heat -version put
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/gopgas/gopgas/pgas"
)

// options are the flags.
type options struct {
	version                 string
	rows, steps, goroutines int
}

func main() {
	var o options
	flag.StringVar(&o.version, "version", "coherent", "coherent, or put")
	flag.IntVar(&o.rows, "rows", 256, "rows of the grid, of 4096 cells each, at least one for each PE")
	flag.IntVar(&o.steps, "steps", 100, "time steps")
	flag.IntVar(&o.goroutines, "goroutines", 1, "goroutines of each PE, in the coherent version; 0: as many as suit the machine")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: pgasrun -n PES heat [flags]\n\nHeat solves the heat equation on a ring of rows.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, "heat:", err)
		os.Exit(2)
	}
	pgas.Main(o.run)
}

func (o options) check() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q: heat takes flags only", flag.Arg(0))
	case o.version != "coherent" && o.version != "put":
		return fmt.Errorf("-version %s: give coherent or put", o.version)
	case o.rows < 1 || o.steps < 0 || o.goroutines < 0:
		return fmt.Errorf("-rows must be at least 1, -steps and -goroutines not negative")
	}
	return nil
}

// run solves the equation and reports on PE 0.
func (o options) run(ctx context.Context, w *pgas.World) error {
	if o.rows < w.NPEs() {
		return fmt.Errorf("-rows %d: give at least one for each of the %d PEs", o.rows, w.NPEs())
	}
	start := w.Now()
	left, err := o.solve(ctx, w)
	if err == nil && w.PE() == 0 {
		fmt.Printf("%s: %d rows, %d steps on %d PEs of %d host(s): unevenness %.6f, %.3f s\n", o.version, o.rows, o.steps, w.NPEs(), len(w.Hosts()), left, (w.Now() - start).Seconds())
	}
	return err
}

func (o options) solve(ctx context.Context, w *pgas.World) (float64, error) {
	if o.version == "put" {
		return solvePut(ctx, w, o.rows, o.steps)
	}
	return solveCoherent(ctx, w, o.rows, o.steps, o.goroutines)
}
