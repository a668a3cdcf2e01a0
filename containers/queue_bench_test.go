package containers_test

// What one call of a queue, of its dispensers of numbers and of a filter costs, and what the batch of it saves.

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

const queueBenchItems = 256 // a round

// perItem reports the time of one of n items a round.
func perItem(b *pgastest.B, rounds, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*n), "ns/item")
}

// queueBench has PE 1 push items to the queue of PE 0, which pops them: all of a round, and then of the next.
func queueBench(b *testing.B, push, pop func(ctx context.Context, q *containers.Queue[uint64], items []uint64) error) {
	pgastest.Bench(b, 2, func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
		q, err := containers.NewQueue[uint64](ctx, w, queueBenchItems)
		if err != nil {
			return err
		}
		items := make([]uint64, queueBenchItems)
		for i := range items {
			items[i] = uint64(i)
		}
		step := push
		if w.PE() == q.Home() {
			step = pop
		}
		b.ResetTimer()
		rounds := 0
		for ; b.Loop(); rounds++ {
			if err := step(ctx, q, items); err != nil {
				return err
			}
		}
		perItem(b, rounds, len(items))
		return q.Free(ctx)
	})
}

func BenchmarkQueue(b *testing.B) {
	queueBench(b, func(ctx context.Context, q *containers.Queue[uint64], items []uint64) error {
		for _, v := range items {
			if err := q.Push(ctx, v); err != nil {
				return err
			}
		}
		return nil
	}, func(ctx context.Context, q *containers.Queue[uint64], items []uint64) error {
		for i := range items {
			if v, err := q.Pop(ctx); err != nil || v != uint64(i) {
				return fmt.Errorf("item %d is %d: %w", i, v, err)
			}
		}
		return nil
	})
}

func BenchmarkQueueAll(b *testing.B) {
	queueBench(b, func(ctx context.Context, q *containers.Queue[uint64], items []uint64) error {
		_, err := q.PushAll(ctx, items)
		return err
	}, func(ctx context.Context, q *containers.Queue[uint64], items []uint64) error {
		into := make([]uint64, len(items))
		for got := 0; got < len(items); {
			n, err := q.PopSome(ctx, into[got:])
			if err != nil {
				return err
			}
			got += n
		}
		return nil
	})
}

// numberBench has all members take numbers at once.
func numberBench(b *testing.B, take func(t *containers.Tickets)) {
	pgastest.Bench(b, 2, func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
		t, err := containers.NewTickets(ctx, w)
		if err != nil {
			return err
		}
		b.ResetTimer()
		rounds := 0
		for ; b.Loop(); rounds++ {
			take(t)
		}
		perItem(b, rounds, queueBenchItems)
		return t.Free(ctx)
	})
}

func BenchmarkTickets(b *testing.B) {
	numberBench(b, func(t *containers.Tickets) {
		for range queueBenchItems {
			t.Next()
		}
	})
}

func BenchmarkTicketsN(b *testing.B) {
	numberBench(b, func(t *containers.Tickets) { t.NextN(queueBenchItems) })
}

func BenchmarkCounter(b *testing.B) {
	pgastest.Bench(b, 2, func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
		c, err := containers.NewCounter(ctx, w)
		if err != nil {
			return err
		}
		b.ResetTimer()
		rounds := 0
		for ; b.Loop(); rounds++ {
			for range queueBenchItems {
				c.Add(1)
			}
		}
		perItem(b, rounds, queueBenchItems)
		if sum, err := c.SumAll(ctx); err != nil || sum != int64(2*rounds*queueBenchItems) {
			return fmt.Errorf("the sum is %d: %w", sum, err)
		}
		return c.Free(ctx)
	})
}

// filterBench has each member use a filter that both have.
func filterBench(b *testing.B, use func(f *containers.Bloom[uint64], keys []uint64)) {
	pgastest.Bench(b, 2, func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
		f, err := containers.NewBloom[uint64](ctx, w, 1<<16, 0.01)
		if err != nil {
			return err
		}
		keys := make([]uint64, queueBenchItems)
		for i := range keys {
			keys[i] = uint64(i)<<8 | uint64(w.PE())
		}
		f.AddAll(keys)
		b.ResetTimer()
		rounds := 0
		for ; b.Loop(); rounds++ {
			use(f, keys)
		}
		perItem(b, rounds, len(keys))
		return f.Free(ctx)
	})
}

func BenchmarkBloomAdd(b *testing.B) {
	filterBench(b, func(f *containers.Bloom[uint64], keys []uint64) {
		for _, k := range keys {
			f.Add(k)
		}
	})
}

func BenchmarkBloomAddAll(b *testing.B) {
	filterBench(b, func(f *containers.Bloom[uint64], keys []uint64) { f.AddAll(keys) })
}

func BenchmarkBloomMayHave(b *testing.B) {
	filterBench(b, func(f *containers.Bloom[uint64], keys []uint64) {
		for _, k := range keys {
			f.MayHave(k)
		}
	})
}

func BenchmarkBloomMayHaveAll(b *testing.B) {
	filterBench(b, func(f *containers.Bloom[uint64], keys []uint64) { f.MayHaveAll(keys, nil) })
}
