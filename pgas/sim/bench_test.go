package sim_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// BenchmarkOps measures simulated operations per second: atomics on other PEs, on own words, and puts with
// waits.
func BenchmarkOps(b *testing.B) {
	for _, c := range []struct {
		name string
		op   func(ctx context.Context, w *pgas.World, words pgas.Sym[int64], i int)
	}{
		{"remote", func(_ context.Context, w *pgas.World, words pgas.Sym[int64], i int) {
			pgas.AtomicOf(words, 0).FetchAdd(int(w.Random()%uint64(w.NPEs())), 1)
		}},
		{"contended", func(_ context.Context, w *pgas.World, words pgas.Sym[int64], i int) {
			pgas.AtomicOf(words, 0).FetchAdd(0, 1)
		}},
		{"own", func(_ context.Context, w *pgas.World, words pgas.Sym[int64], i int) {
			pgas.AtomicOf(words, 0).FetchAdd(w.PE(), 1)
		}},
		{"put", func(_ context.Context, w *pgas.World, words pgas.Sym[int64], i int) {
			words.At(0).Put(int(w.Random()%uint64(w.NPEs())), 1)
		}},
	} {
		for _, npes := range []int{2, 64, 1024} {
			b.Run(fmt.Sprintf("%s/%d", c.name, npes), func(b *testing.B) {
				var r sim.Report
				r, err := sim.Run(b.Context(), sim.Config{Topology: "numa:8,host:2,rack:16", MaxEvents: 1 << 40}, npes, func(ctx context.Context, w *pgas.World) error {
					words, err := pgas.Alloc[int64](ctx, w, 8)
					if err != nil {
						return err
					}
					if err := w.Barrier(ctx); err != nil {
						return err
					}
					if w.PE() == 0 {
						b.ResetTimer()
					}
					for i := range b.N/npes + 1 {
						c.op(ctx, w, words, i)
					}
					return w.Barrier(ctx)
				})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mops/s")
				_ = r
			})
		}
	}
}
