package main

// Index gather: each operation reads a random word of a table.

import (
	"context"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

func gather(ctx context.Context, w *pgas.World, o options) (run, error) {
	table, err := containers.NewArray[int64](ctx, w, 1<<o.logarithm, containers.Cyclic())
	if err != nil {
		return run{}, err
	}
	for i, word := range table.LocalAll() {
		*word = content(i)
	}
	idx := drawIndexes(w, o)
	got := make([]int64, len(idx))
	return run{
		ops:   o.ops,
		bytes: 8,
		work:  func(ctx context.Context) error { return table.Gather(ctx, got, idx) },
		check: func(ctx context.Context) error {
			wrong := 0
			for k, i := range idx {
				if got[k] != content(i) {
					wrong++
				}
			}
			return allRight(ctx, w, wrong, "words read")
		},
	}, w.Barrier(ctx)
}

// content is what word i of the table holds.
func content(i int) int64 { return int64(draw(1, uint64(i))) }
