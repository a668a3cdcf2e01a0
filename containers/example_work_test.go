package containers_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// Every PE pushes to a queue at PE 0, which adds up what it pops.
func ExampleQueue() {
	sim.Run(context.Background(), sim.Config{}, 4, func(ctx context.Context, w *pgas.World) error {
		q, err := containers.NewQueue[int](ctx, w, 16)
		if err != nil {
			return err
		}
		if err := q.Push(ctx, w.PE()+1); err != nil {
			return err
		}
		if w.PE() == 0 {
			sum := 0
			for range w.NPEs() {
				v, err := q.Pop(ctx)
				if err != nil {
					return err
				}
				sum += v
			}
			fmt.Println(sum)
		}
		return q.Free(ctx)
	})
	// Output: 10
}

// Each task halves a range of numbers until it has few, which it adds up.
func ExampleWorkPool() {
	type span struct{ Lo, Hi int64 }
	sim.Run(context.Background(), sim.Config{}, 4, func(ctx context.Context, w *pgas.World) error {
		pool, err := containers.NewWorkPool[span](ctx, w, 1024)
		if err != nil {
			return err
		}
		sum, err := containers.NewCounter(ctx, w)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			pool.Add(span{1, 1001})
		}
		err = pool.Run(ctx, func(ctx context.Context, s span, add func(span)) error {
			if middle := (s.Lo + s.Hi) / 2; s.Hi-s.Lo > 10 {
				add(span{s.Lo, middle})
				add(span{middle, s.Hi})
				return nil
			}
			for i := s.Lo; i < s.Hi; i++ {
				sum.Add(i)
			}
			return nil
		})
		if err != nil {
			return err
		}
		all, err := sum.SumAll(ctx)
		if w.PE() == 0 {
			fmt.Println(all)
		}
		return errors.Join(err, sum.Free(ctx), pool.Free(ctx))
	})
	// Output: 500500
}

// The PEs share 30 numbers, and reserve ten at a time.
func ExampleTickets() {
	sim.Run(context.Background(), sim.Config{}, 3, func(ctx context.Context, w *pgas.World) error {
		t, err := containers.NewTickets(ctx, w, containers.Batch(10))
		if err != nil {
			return err
		}
		first := t.Next() // a message
		for range 9 {
			t.Next() // none
		}
		sum, err := pgas.SumValue(ctx, w.Team(), first)
		if w.PE() == 0 {
			fmt.Println(sum) // 0, 10 and 20, whoever has which
		}
		return errors.Join(err, t.Free(ctx))
	})
	// Output: 30
}

// Every PE publishes its place, and fetches that of the next one.
func ExampleDistObject() {
	type place struct{ X, Y float64 }
	sim.Run(context.Background(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
		d, err := containers.NewDistObject[place](ctx, w)
		if err != nil {
			return err
		}
		d.Publish(place{float64(w.PE()), 0.5})
		next, err := d.Fetch(ctx, 1-w.PE()) // waits until that PE has published its own
		if w.PE() == 0 {
			fmt.Println(next)
		}
		return errors.Join(err, d.Free(ctx))
	})
	// Output: {1 0.5}
}

// PE 0 adds keys, and PE 1 looks for them.
func ExampleBloom() {
	sim.Run(context.Background(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
		seen, err := containers.NewBloom[uint64](ctx, w, 1000, 0.001)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			seen.AddAll([]uint64{2, 3, 5, 7})
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 1 {
			fmt.Println(seen.MayHaveAll([]uint64{5, 6, 7, 8}, nil))
		}
		return seen.Free(ctx)
	})
	// Output: [true false true false]
}
