package metrics_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/metrics"
)

// Every PE serves its metrics at a port of its own, for as long as its body runs.
func ExampleServe() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		serving, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			if err := metrics.Serve(serving, w, fmt.Sprint("localhost:", 9400+w.PE())); err != nil {
				log.Print(err) // the job goes on without metrics
			}
		}()
		return compute(ctx, w)
	})
}

func compute(ctx context.Context, w *pgas.World) error { return w.Barrier(ctx) }
