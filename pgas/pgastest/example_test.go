package pgastest_test

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// BenchmarkPingPong is a signal from PE 0 to PE 1 and one back, with PEs of every kind:
//
//	go test -bench PingPong
func BenchmarkPingPong(b *testing.B) {
	pgastest.Bench(b, 2, func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
		signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		mine, other, turn := pgas.SignalOf(signals, 0), 1-w.PE(), uint64(0)
		for b.Loop() { // as often on both PEs
			turn++
			if w.PE() == 0 {
				mine.Set(other, turn)
			}
			if _, err := mine.WaitUntil(ctx, pgas.GE, turn); err != nil {
				return err
			}
			if w.PE() == 1 {
				mine.Set(other, turn)
			}
		}
		return nil
	})
}

// A benchmark whose PEs are goroutines, processes and hosts in turn.
func ExampleBench() {
	testing.Benchmark(BenchmarkPingPong) // go test -bench does that
}
