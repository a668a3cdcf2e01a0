package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestSolve compares every cell with a sequential solution, bit for bit: the number of PEs only changes which PE
// computes what, not the arithmetic.
func TestSolve(t *testing.T) {
	const rows, steps = 5, 60
	for _, npes := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("%d PEs", npes), func(t *testing.T) {
			want := sequential(npes*rows, steps)
			pgastest.Run(t, npes, func(ctx context.Context, w *pgas.World) error {
				strips, err := AllocStrip(ctx, w, 1)
				if err != nil {
					return err
				}
				grid, err := solve(ctx, w, strips.At(0), rows, steps)
				if err != nil {
					return err
				}
				for i := range grid {
					if at := w.PE()*rows + i; grid[i] != want[at] {
						return fmt.Errorf("row %d differs from the sequential solution: %v, want %v", at, grid[i], want[at])
					}
				}
				_, warm, err := report(ctx, w, strips.At(0), grid)
				if err != nil {
					return err
				}
				if n := int64(npes * rows * Width); warm < 1 || warm >= n {
					return fmt.Errorf("%d of %d cells are above average", warm, n)
				}
				return nil
			})
		})
	}
}

// sequential solves the equation on one grid.
func sequential(n, steps int) []row {
	grid, spare := make([]row, n), make([]row, n)
	for i := range grid {
		grid[i] = initial(i, n)
	}
	for range steps {
		for i := range grid {
			spare[i] = next(&grid[(i+n-1)%n], &grid[i], &grid[(i+1)%n])
		}
		grid, spare = spare, grid
	}
	return grid
}
