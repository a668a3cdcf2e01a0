package containers_test

// A map beside Go's own: each member finds and updates keys of all members, one by one and in a batch.

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

const mapBenchKeys = 1 << 12

func addInts(old, v int64) int64 { return old + v }

// mapBench has every member do each for a batch of keys in every round.
func mapBench(b *testing.B, batch int, each func(ctx context.Context, m *containers.Map[uint64, int64], keys []uint64) error) {
	pgastest.Bench(b, 2, func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
		m, err := containers.NewMap[uint64, int64](ctx, w, containers.Capacity(2*mapBenchKeys))
		if err != nil {
			return err
		}
		keys := make([]uint64, mapBenchKeys)
		for i := range keys {
			keys[i] = uint64(i) * 77
		}
		if err := m.InsertAll(ctx, zerosOf(keys)); err != nil {
			return err
		}
		b.ResetTimer()
		rounds := 0
		for ; b.Loop(); rounds++ {
			at := (rounds*batch + w.PE()*mapBenchKeys/2) % (mapBenchKeys - batch + 1)
			if err := each(ctx, m, keys[at:at+batch]); err != nil {
				return err
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*batch), "ns/key")
		return m.Free(ctx)
	})
}

// zerosOf gives each key the value 0.
func zerosOf(keys []uint64) func(yield func(uint64, int64) bool) {
	return func(yield func(uint64, int64) bool) {
		for _, k := range keys {
			if !yield(k, 0) {
				return
			}
		}
	}
}

func BenchmarkMapFind(b *testing.B) {
	mapBench(b, 256, func(_ context.Context, m *containers.Map[uint64, int64], keys []uint64) error {
		for _, k := range keys {
			if _, ok := m.Find(k); !ok {
				return fmt.Errorf("key %d is lost", k)
			}
		}
		return nil
	})
}

func BenchmarkMapUpdate(b *testing.B) {
	mapBench(b, 256, func(ctx context.Context, m *containers.Map[uint64, int64], keys []uint64) error {
		for _, k := range keys {
			if err := m.Update(ctx, k, 1, addInts); err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkMapUpdateAll(b *testing.B) {
	mapBench(b, mapBenchKeys, func(ctx context.Context, m *containers.Map[uint64, int64], keys []uint64) error {
		return m.UpdateAll(ctx, zerosOf(keys), addInts)
	})
}

func BenchmarkMapFindAll(b *testing.B) {
	mapBench(b, mapBenchKeys, func(ctx context.Context, m *containers.Map[uint64, int64], keys []uint64) error {
		_, _, err := m.FindAll(ctx, keys)
		return err
	})
}

// BenchmarkMapOfGo is one goroutine with a map of Go.
func BenchmarkMapOfGo(b *testing.B) {
	m := map[uint64]int64{}
	for i := range mapBenchKeys {
		m[uint64(i)*77] = 0
	}
	i := 0
	for b.Loop() {
		m[uint64(i&(mapBenchKeys-1))*77]++
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/key")
}

// BenchmarkMapInserts inserts new keys one by one, with the promise that nobody does anything else and without.
func BenchmarkMapInserts(b *testing.B) {
	for _, promise := range []bool{false, true} {
		name := map[bool]string{false: "no promise", true: "OnlyInserts"}[promise]
		b.Run(name, func(b *testing.B) { mapInsertsBench(b, promise) })
	}
}

func mapInsertsBench(b *testing.B, promise bool) {
	pgastest.Bench(b, 2, func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
		rounds := 0
		for ; b.Loop(); rounds++ {
			b.StopTimer()
			m, err := containers.NewMap[uint64, int64](ctx, w, containers.Capacity(2*mapBenchKeys))
			if err != nil {
				return err
			}
			b.StartTimer()
			if err := insertOwn(ctx, w, m, promise); err != nil {
				return err
			}
			b.StopTimer()
			if err := m.Free(ctx); err != nil {
				return err
			}
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*mapBenchKeys), "ns/key")
		return nil
	})
}

// insertOwn has each member insert mapBenchKeys keys that no other does.
func insertOwn(ctx context.Context, w *pgas.World, m *containers.Map[uint64, int64], promise bool) (err error) {
	if promise {
		if err := m.OnlyInserts(ctx); err != nil {
			return err
		}
	}
	for i := range uint64(mapBenchKeys) {
		if _, err := m.Insert(ctx, (i*2+uint64(w.PE()))*77, 1); err != nil {
			return err
		}
	}
	return m.Writes(ctx)
}
