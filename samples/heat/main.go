// Heat solves the heat equation on PEs in three ways, and prints how uneven the grid is at the end and how long the
// steps took:
//
//	pgasrun -n 2 heat -version coherent                                   over coherent memory
//	pgasrun -n 2 heat -version put                                        by puts
//	pgasrun -n 2 -restart 5 -checkpoint DIR heat -version saved -save 20   on an array, and goes on after a failure
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
	save                    int
	verify                  bool
}

func main() {
	var o options
	flag.StringVar(&o.version, "version", "coherent", "coherent, put or saved")
	flag.IntVar(&o.rows, "rows", 256, "rows of the grid, of 4096 cells each, at least one for each PE")
	flag.IntVar(&o.steps, "steps", 100, "time steps")
	flag.IntVar(&o.goroutines, "goroutines", 1, "goroutines of each PE, in the coherent version; 0: as many as suit the machine")
	flag.IntVar(&o.save, "save", 20, "save the grid after each so many steps, in the saved version, where pgasrun -checkpoint says")
	flag.BoolVar(&o.verify, "verify", false, "compare the grid with that of one PE, in the saved version")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: pgasrun -n PES heat [flags]\n\nHeat solves the heat equation on a ring of rows.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, "heat:", err)
		os.Exit(2)
	}
	pgas.Survive(o.run)
}

func (o options) check() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q: heat takes flags only", flag.Arg(0))
	case o.version != "coherent" && o.version != "put" && o.version != "saved":
		return fmt.Errorf("-version %s: give coherent, put or saved", o.version)
	case o.save < 1:
		return fmt.Errorf("-save %d: give after how many steps the grid is saved, such as 20", o.save)
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
	switch o.version {
	case "put":
		return solvePut(ctx, w, o.rows, o.steps)
	case "saved":
		return solveSaved(ctx, w, o.rows, o.steps, o.save, o.verify)
	}
	return solveCoherent(ctx, w, o.rows, o.steps, o.goroutines)
}
