package main

import (
	"context"
	"fmt"

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
		return cells.Free(ctx)
	})
}

// putLoop is what TestPutIsAStore reads.
//
//go:noinline
func putLoop(cells CellSym, pe, n int) {
	for i := range n {
		cells.At(i%cells.Len()).PutSum(pe, float64(i))
	}
}
