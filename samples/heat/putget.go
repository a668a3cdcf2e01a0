package main

// The put version: in each step a PE puts its first and its last row to its neighbours, together with a signal, waits
// for theirs, and computes the next state of its own rows. Each PE uses one goroutine.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// The two neighbours of a PE.
const (
	fromPrev = iota
	fromNext
	neighbours
)

// halo is where the rows of the neighbours arrive. A fast neighbour is at most one step ahead, so rows of even and odd
// steps are apart.
type halo struct {
	rows  pgas.Slice[row]
	ready pgas.SignalSlice
}

func allocHalo(ctx context.Context, w *pgas.World) (halo, error) {
	rows, err := pgas.Alloc[row](ctx, w, 2*neighbours)
	if err != nil {
		return halo{}, err
	}
	ready, err := pgas.Alloc[pgas.Signal](ctx, w, neighbours)
	return halo{rows.All(), pgas.SignalsOf(ready.All())}, err
}

// put sends the edge rows of a strip for one step.
func (h halo) put(before, after, step int, grid []row) {
	at, arrived := step%2*neighbours, uint64(step+1)
	h.rows.At(at+fromNext).PutSignal(before, &grid[0], h.ready.At(fromNext), arrived)
	h.rows.At(at+fromPrev).PutSignal(after, &grid[len(grid)-1], h.ready.At(fromPrev), arrived)
}

// wait returns the neighbours' edge rows of one step.
func (h halo) wait(ctx context.Context, step int) (above, below *row, err error) {
	for side := range neighbours {
		if _, err := h.ready.At(side).WaitUntil(ctx, pgas.GE, uint64(step+1)); err != nil {
			return nil, nil, err
		}
	}
	at := step % 2 * neighbours
	return h.rows.At(at + fromPrev).Local(), h.rows.At(at + fromNext).Local(), nil
}

// solvePut computes steps of the equation on a grid of n rows, of which each PE has a part. It returns the unevenness
// of all rows.
func solvePut(ctx context.Context, w *pgas.World, n, steps int) (left float64, err error) {
	me, npes := w.PE(), w.NPEs()
	after, before := (me+1)%npes, (me+npes-1)%npes
	lo, hi := me*n/npes, (me+1)*n/npes
	h, err := allocHalo(ctx, w)
	if err != nil {
		return 0, err
	}
	grid, spare := make([]row, hi-lo), make([]row, hi-lo)
	for i := range grid {
		grid[i] = initial(lo+i, n)
	}
	for step := range steps {
		h.put(before, after, step, grid)
		above, below, err := h.wait(ctx, step)
		if err != nil {
			return 0, err
		}
		for i := range grid {
			up, down := above, below
			if i > 0 {
				up = &grid[i-1]
			}
			if i < len(grid)-1 {
				down = &grid[i+1]
			}
			advance(&spare[i], up, &grid[i], down)
		}
		grid, spare = spare, grid
	}
	return total(ctx, w, unevenness(grid))
}

// total adds what all PEs give, in their order.
func total(ctx context.Context, w *pgas.World, left float64) (float64, error) {
	parts, err := pgas.Alloc[float64](ctx, w, 1+w.NPEs())
	if err != nil {
		return 0, err
	}
	parts.Local()[0] = left
	if err := pgas.FCollect(ctx, w.Team(), parts.Range(1, 1+w.NPEs()), parts.Range(0, 1)); err != nil {
		return 0, err
	}
	var all float64
	for _, v := range parts.Local()[1:] {
		all += v
	}
	return all, nil
}
