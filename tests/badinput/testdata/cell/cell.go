// The program of the tests: every PE adds one to a record on PE 0. -records makes the heap full.
package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

//pgas:symmetric
type Cell struct {
	Count int64 `pgas:"atomic"`
	Sum   float64
}

func main() {
	records := flag.Int("records", 64, "records to allocate")
	flag.Parse()
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		cells, err := AllocCell(ctx, w, *records)
		if err != nil {
			return err
		}
		cells.At(0).AddCount(0, 1)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Printf("%d PEs\n", cells.At(0).FetchCount(0))
		}
		return cells.Free(ctx)
	})
}
