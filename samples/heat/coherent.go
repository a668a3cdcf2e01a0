package main

// The coherent version: one array that all PEs read and write. Nothing is said about communication. The rows at the
// edge of a part are fetched when they are read, and dropped when their owner has written them and all have met.

import (
	"context"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
)

// solveCoherent computes steps of the equation on a grid of n rows with the given number of goroutines on each PE (0:
// as many as suit the machine). It returns the unevenness of all rows.
func solveCoherent(ctx context.Context, w *pgas.World, n, steps, goroutines int) (left float64, err error) {
	r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 2 * 8 * Width * uint64(n)})
	if err != nil {
		return 0, err
	}
	a, err := dsm.Alloc[row](ctx, r, n)
	if err != nil {
		return 0, err
	}
	b, err := dsm.Alloc[row](ctx, r, n)
	if err != nil {
		return 0, err
	}
	err = r.Run(ctx, goroutines, func(ctx context.Context, m dsm.Member) error {
		old, next := a, b
		lo, hi := m.Share(n)
		for i, mine := 0, old.Overwrite(lo, hi); i < len(mine); i++ {
			mine[i] = initial(lo+i, n)
		}
		for range steps {
			if err := m.Barrier(ctx); err != nil {
				return err
			}
			step(next.Overwrite(lo, hi), old, lo, n)
			old, next = next, old
		}
		total, err := m.Sum(ctx, unevenness(old.View(lo, hi)))
		if err == nil && m.ID() == 0 {
			left = total[0]
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return left, r.Close(ctx)
}

// step computes rows from lo on of a grid of n.
func step(out []row, old dsm.Array[row], lo, n int) {
	hi := lo + len(out)
	if hi == lo {
		return
	}
	mine := old.View(lo, hi)
	for i := range out {
		above, below := old.Read((lo+i+n-1)%n), old.Read((lo+i+1)%n)
		advance(&out[i], above, &mine[i], below)
	}
}
