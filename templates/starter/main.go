// A first program for gopgas: the heat equation on a ring of PEs. Run it as one PE, or as four:
//
//	go build -o heat . && ./heat
//	go tool pgasrun -n 4 ./heat
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/gopgas/gopgas/pgas"
)

func main() {
	rows := flag.Int("rows", 48, "rows of the grid on each PE")
	steps := flag.Int("steps", 500, "time steps")
	flag.Parse()
	if *rows < 1 || *steps < 0 {
		fmt.Fprintln(os.Stderr, "-rows must be at least 1, and -steps not negative")
		os.Exit(2)
	}
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		strips, err := AllocStrip(ctx, w, 1)
		if err != nil {
			return err
		}
		grid, err := solve(ctx, w, strips.At(0), *rows, *steps)
		if err != nil {
			return err
		}
		heat, warm, err := report(ctx, w, strips.At(0), grid)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Printf("PEs: %d, cells: %d x %d, steps: %d, heat: %.6f, cells above average: %d\n",
				w.NPEs(), w.NPEs()**rows, Width, *steps, heat, warm)
		}
		return strips.Free(ctx)
	})
}
