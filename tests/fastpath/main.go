package main

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/atomics"
	"github.com/gopgas/gopgas/pgas"
)

func main() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		cells, err := AllocCell(ctx, w, 1)
		if err != nil {
			return err
		}
		putLoop(cells, 0, 10)
		if got := cells.At(0).GetSum(0); got != 9 {
			return fmt.Errorf("the last put was of 9, but the field is %v", got)
		}
		if got := countLoop(cells, 0, 10); got != 10 {
			return fmt.Errorf("counted to %d, not to 10", got)
		}
		return cells.Free(ctx)
	})
}

// putLoop is the loop that TestPutIsAStore disassembles.
//
//go:noinline
func putLoop(cells CellSym, pe, n int) {
	for i := range n {
		cells.At(i%cells.Len()).PutSum(pe, float64(i))
	}
}

// countLoop uses the views of package atomics.
//
//go:noinline
func countLoop(cells CellSym, pe, n int) int64 {
	count := atomics.Int64(cells.At(0).Count())
	for range n {
		count.Add(pe, 1)
	}
	for old := count.Swap(pe, 0); !count.CompareAndSwap(pe, 0, old); {
	}
	count.Or(pe, 0)
	count.And(pe, -1)
	count.Store(pe, count.Load(pe))
	return cells.At(0).FetchCount(pe)
}
