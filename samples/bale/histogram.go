package main

// Histogram: each operation adds 1 to a random word of a table.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

func histogram(ctx context.Context, w *pgas.World, o options) (run, error) {
	table, err := containers.NewArray[int64](ctx, w, 1<<o.logarithm, containers.Cyclic())
	if err != nil {
		return run{}, err
	}
	idx := drawIndexes(w, o)
	return run{
		ops:   o.ops,
		bytes: 8,
		work:  func(ctx context.Context) error { return containers.Count(ctx, table, idx) },
		check: func(ctx context.Context) error { return checkHistogram(ctx, w, table, o) },
	}, nil
}

// drawIndexes draws this PE's share of the operations' indexes.
func drawIndexes(w *pgas.World, o options) []int {
	lo, hi := w.Team().Share(o.ops)
	idx := make([]int, hi-lo)
	for k := range idx {
		idx[k] = below(0, uint64(lo+k), 1<<o.logarithm)
	}
	return idx
}

// checkHistogram counts this PE's words from the operations of all PEs.
func checkHistogram(ctx context.Context, w *pgas.World, table *containers.Array[int64], o options) error {
	left := make([]int64, len(table.Local()))
	copy(left, table.Local())
	for k := range o.ops {
		if pe, at := table.Locate(below(0, uint64(k), table.Len())); pe == w.PE() {
			left[at]--
		}
	}
	wrong := 0
	for _, n := range left {
		if n != 0 {
			wrong++
		}
	}
	return allRight(ctx, w, wrong, "words of the table")
}

// allRight returns an error on every PE if any has found something wrong.
func allRight(ctx context.Context, w *pgas.World, wrong int, of string) error {
	total, err := pgas.SumValue(ctx, w.Team(), wrong)
	if err == nil && total > 0 {
		err = fmt.Errorf("%d %s are wrong", total, of)
	}
	return err
}
