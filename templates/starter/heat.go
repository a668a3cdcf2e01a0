package main

// The heat equation on a grid that is bent into a tube: rows go around a ring, columns end at cold
// walls. Every PE owns a strip of rows. In each step it puts its first and last row to its
// neighbours, together with a signal, waits for theirs, and computes the next state of its own.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// rate is how much of a difference flows in one step. Above 0.25 the method is unstable.
const rate = 0.2

// row is one row of the grid.
type row = [Width]float64

// initial returns the state of row i of n before the first step: one hot spot.
func initial(i, n int) (r row) {
	if i == n/3 {
		for j := Width / 4; j < Width/2; j++ {
			r[j] = 100
		}
	}
	return r
}

// next returns the row that follows from mid and the rows on both sides of it.
func next(above, mid, below *row) (out row) {
	for j := range mid {
		left, right := 0.0, 0.0
		if j > 0 {
			left = mid[j-1]
		}
		if j < Width-1 {
			right = mid[j+1]
		}
		out[j] = mid[j] + rate*(above[j]+below[j]+left+right-4*mid[j])
	}
	return out
}

// solve computes steps of the equation on a grid of w.NPEs() strips with the given number of rows, and
// returns this PE's strip.
func solve(ctx context.Context, w *pgas.World, strip StripRef, rows, steps int) ([]row, error) {
	me, n := w.PE(), w.NPEs()
	after, before := (me+1)%n, (me+n-1)%n
	grid, spare := make([]row, rows), make([]row, rows)
	for i := range grid {
		grid[i] = initial(me*rows+i, n*rows)
	}
	for step := range steps {
		parity, arrived := step%2, uint64(step+1)
		strip.PutHaloSignal(before, parity, fromNext, grid[0][:], strip.Ready(fromNext), arrived)
		strip.PutHaloSignal(after, parity, fromPrev, grid[rows-1][:], strip.Ready(fromPrev), arrived)
		for side := range 2 {
			if _, err := strip.Ready(side).WaitUntil(ctx, pgas.GE, arrived); err != nil {
				return nil, err
			}
		}
		halo := &strip.Local().Halo[parity]
		for i := range grid {
			above, below := &halo[fromPrev], &halo[fromNext]
			if i > 0 {
				above = &grid[i-1]
			}
			if i < rows-1 {
				below = &grid[i+1]
			}
			spare[i] = next(above, &grid[i], below)
		}
		grid, spare = spare, grid
	}
	return grid, nil
}

// report adds up the strips: every PE leaves its heat where the others fetch it, and adds its warm
// cells to the count on PE 0. It returns both sums, the same on every PE.
func report(ctx context.Context, w *pgas.World, strip StripRef, grid []row) (heat float64, warm int64, err error) {
	strip.PutHeat(w.PE(), sum(grid))
	if err := w.Barrier(ctx); err != nil {
		return 0, 0, err
	}
	for pe := range w.NPEs() { // in the same order everywhere: floating-point sums depend on it
		heat += strip.GetHeat(pe)
	}
	mean := heat / float64(w.NPEs()*len(grid)*Width)
	for i := range grid {
		for _, t := range grid[i] {
			if t > mean {
				warm++
			}
		}
	}
	strip.AddWarm(0, warm)
	if err := w.Barrier(ctx); err != nil {
		return 0, 0, err
	}
	return heat, strip.FetchWarm(0), nil
}

func sum(grid []row) (s float64) {
	for i := range grid {
		for _, t := range grid[i] {
			s += t
		}
	}
	return s
}
