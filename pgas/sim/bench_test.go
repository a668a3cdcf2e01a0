package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// BenchmarkOps measures simulated operations per second of CPU time, from the end of the set-up on.
func BenchmarkOps(b *testing.B) {
	anyPE := func(w *pgas.World) int { return int(w.Random() % uint64(w.NPEs())) }
	for _, c := range []struct {
		name string
		op   func(w *pgas.World, words pgas.Sym[int64])
	}{
		{"own", func(w *pgas.World, words pgas.Sym[int64]) { pgas.AtomicOf(words, 0).FetchAdd(w.PE(), 1) }},
		{"any", func(w *pgas.World, words pgas.Sym[int64]) { pgas.AtomicOf(words, 0).FetchAdd(anyPE(w), 1) }},
		{"one", func(w *pgas.World, words pgas.Sym[int64]) { pgas.AtomicOf(words, 0).FetchAdd(0, 1) }},
		{"put", func(w *pgas.World, words pgas.Sym[int64]) { words.At(0).Put(anyPE(w), 1) }},
	} {
		for _, npes := range []int{2, 16, 64, 256, 1024, 4096} {
			b.Run(fmt.Sprintf("%s/%d", c.name, npes), func(b *testing.B) {
				var used time.Duration
				_, err := sim.Run(b.Context(), sim.Config{Topology: "numa:8,host:2,rack:16", MaxEvents: 1 << 40}, npes, func(ctx context.Context, w *pgas.World) error {
					words, err := pgas.Alloc[int64](ctx, w, 8)
					if err != nil {
						return err
					}
					if w.PE() == 0 {
						b.ResetTimer()
						used = cpuTime()
					}
					for range b.N/npes + 1 {
						c.op(w, words)
					}
					if err := w.Barrier(ctx); err != nil {
						return err
					}
					if w.PE() == 0 {
						b.StopTimer()
						used = cpuTime() - used
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(b.N)/used.Seconds()/1e6, "Mops/cpu-s")
			})
		}
	}
}

// cpuTime returns the CPU time of this process.
func cpuTime() time.Duration {
	var r unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
