package atomics_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/gopgas/gopgas/atomics"
	"github.com/gopgas/gopgas/pgas"
)

// Eight goroutines of each PE count on PE 0.
func Example() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		counters, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		hits := atomics.Of(counters, 0)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { hits.Add(0, 1) })
		}
		wg.Wait()
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(hits.Load(0) == int64(8*w.NPEs()))
		}
		return nil
	})
	// Output: true
}
