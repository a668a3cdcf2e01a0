// Command hello is the smallest program with an annotated struct: every PE writes into a record on the
// next one and counts itself on PE 0.
//
//	pgasrun -n 4 ./samples/hello
package main

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

func main() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		cells, err := AllocCell(ctx, w, 1) // collective: every PE makes the same call
		if err != nil {
			return err
		}
		c := cells.At(0)
		next := (w.PE() + 1) % w.NPEs()

		c.PutTemperature(next, 20+float64(w.PE())) // one store if next is on this host, one message if not
		c.FetchAddCount(0, 1)                      // an atomic on PE 0
		if err := w.Barrier(ctx); err != nil {     // all puts and atomics of all PEs are complete
			return err
		}
		mine := c.GetTemperature(w.PE())
		fmt.Printf("PE %d of %d on %s: %.0f degrees, put here by PE %d; PE 0 has counted %d\n",
			w.PE(), w.NPEs(), w.Host(), mine, (w.PE()+w.NPEs()-1)%w.NPEs(), c.FetchCount(0))
		return cells.Free(ctx)
	})
}
