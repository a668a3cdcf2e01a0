package main

// The saved version: the grid is an array of rows, which all PEs save together now and then. A job that is started
// again goes on from what was saved last, also on another number of PEs.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

// solveSaved computes the steps that are left of a grid of n rows, and returns the unevenness of all rows. It saves the
// grid after each so many steps. With verify PE 0 compares the grid with that of one PE.
func solveSaved(ctx context.Context, w *pgas.World, n, steps, save int, verify bool) (left float64, err error) {
	grid, err := containers.NewArray[row](ctx, w, n)
	if err != nil {
		return 0, err
	}
	lo, _ := w.Team().Share(n)
	for i := range grid.Local() {
		grid.Local()[i] = initial(lo+i, n)
	}
	step := 0
	set := ckpt.New(w)
	set.Add("grid", grid)
	set.Add("step", ckpt.Shared(&step))
	cut, ok, err := set.Restore(ctx)
	if err != nil {
		return 0, err
	}
	if ok && w.PE() == 0 {
		fmt.Printf("goes on from cut %v, after step %d\n", cut, step)
	}
	for next := make([]row, len(grid.Local())); step < steps; {
		if err := stepSaved(ctx, w, grid, next, lo); err != nil {
			return 0, err
		}
		if step++; step%save == 0 {
			if err := set.Save(ctx); err != nil {
				return 0, err
			}
		}
	}
	if verify && w.PE() == 0 {
		if err := compare(ctx, grid, step); err != nil {
			return 0, err
		}
	}
	return total(ctx, w, unevenness(grid.Local()))
}

// stepSaved computes one step. next has room for the rows of this PE, of which the first is lo.
func stepSaved(ctx context.Context, w *pgas.World, grid *containers.Array[row], next []row, lo int) error {
	mine, n := grid.Local(), grid.Len()
	ends := make([]row, 2)
	if err := grid.GetRange(ctx, (lo+n-1)%n, ends[:1]); err != nil {
		return err
	}
	if err := grid.GetRange(ctx, (lo+len(mine))%n, ends[1:]); err != nil {
		return err
	}
	for i := range mine {
		above, below := &ends[0], &ends[1]
		if i > 0 {
			above = &mine[i-1]
		}
		if i < len(mine)-1 {
			below = &mine[i+1]
		}
		advance(&next[i], above, &mine[i], below)
	}
	if err := w.Barrier(ctx); err != nil { // nobody reads the old rows any more
		return err
	}
	copy(mine, next)
	return w.Barrier(ctx)
}

// compare returns an error unless the grid is, to the last bit, what one PE computes.
func compare(ctx context.Context, grid *containers.Array[row], steps int) error {
	var got [1]row
	for i, want := range alone(grid.Len(), steps) {
		if err := grid.GetRange(ctx, i, got[:]); err != nil {
			return err
		}
		if got[0] != want {
			return fmt.Errorf("after %d steps row %d is not what one PE computes", steps, i)
		}
	}
	return nil
}
