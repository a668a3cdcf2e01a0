// Command why hands a row of numbers from PE 0 to the last PE, which adds them up. There are three ways to hand them
// over in handover.go, of which two are wrong; the tests show how each of these is found, as docs/learn/why.md tells.
//
//	pgasrun -n 2 ./samples/why
package main

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

func main() {
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		sum, err := run(ctx, w, inOrder)
		if err == nil && w.PE() == w.NPEs()-1 {
			fmt.Printf("PE %d has got the row from PE 0 on %s; its sum is %d\n", w.PE(), where(w), sum)
		}
		return err
	})
}

// where says whether the row has come from another host.
func where(w *pgas.World) string {
	if w.HostOf(0) == w.Host() {
		return "the same host"
	}
	return "another host"
}

// run hands the row over, and returns on the last PE the sum of what has come.
func run(ctx context.Context, w *pgas.World, how handOver) (sum int64, err error) {
	row, err := pgas.Alloc[int64](ctx, w, 4)
	if err != nil {
		return 0, err
	}
	signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err != nil {
		return 0, err
	}
	if err := how(ctx, w, row.All(), pgas.SignalOf(signals, 0)); err != nil {
		return 0, err
	}
	if w.PE() == w.NPEs()-1 {
		for _, v := range row.Local() {
			sum += v
		}
	}
	return sum, w.Barrier(ctx)
}
