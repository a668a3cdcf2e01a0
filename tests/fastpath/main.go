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
		c := cells.At(0)
		putLoop(c, 0, 10)
		if got := c.GetSum(0); got != 9 {
			return fmt.Errorf("the last put was of 9, but the field is %v", got)
		}
		return cells.Free(ctx)
	})
}

// putLoop is what TestPutIsAStore reads.
//
//go:noinline
func putLoop(c CellRef, pe, n int) {
	for i := range n {
		c.PutSum(pe, float64(i))
	}
}
