package atomics_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/gopgas/gopgas/atomics"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
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

// onPEs runs body on some PEs of this process.
func onPEs(npes int, body pgastest.Body) {
	if err := pgastest.Goroutines(context.Background(), npes, pgastest.Options{}, body); err != nil {
		fmt.Println(err)
	}
}

// Ticket numbers from PE 0: a type of the program's own, made from an integer.
func ExampleInteger() {
	type Ticket int64
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[Ticket](ctx, w, 1)
		if err != nil {
			return err
		}
		var next atomics.Integer[Ticket] = atomics.Of(words, 0)
		mine := next.Add(0, 1)
		if mine == Ticket(w.NPEs()) {
			fmt.Println("last ticket:", mine)
		}
		return w.Barrier(ctx)
	})
	// Output: last ticket: 4
}

// An update that sync/atomic has no method for: a bounded counter.
func ExampleInteger_CompareAndSwap() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[uint32](ctx, w, 1)
		if err != nil {
			return err
		}
		seats := atomics.Of(words, 0)
		for taken := seats.Load(0); taken < 3; taken = seats.Load(0) {
			if seats.CompareAndSwap(0, taken, taken+1) {
				break
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println("seats taken:", seats.Load(0))
		}
		return nil
	})
	// Output: seats taken: 3
}

// PE 1 waits for a word of its own memory, which PE 0 updates.
func ExampleInteger_WaitUntil() {
	onPEs(2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		step := atomics.Of(words, 0)
		if w.PE() == 0 {
			step.Store(1, 5)
			return w.Quiet(ctx)
		}
		v, err := step.WaitUntil(ctx, pgas.GE, 5)
		if err != nil {
			return err
		}
		fmt.Println("step", v)
		return nil
	})
	// Output: step 5
}

// The sum of floating-point numbers of all PEs, on PE 0.
func ExampleFloat() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[float64](ctx, w, 1)
		if err != nil {
			return err
		}
		sum := atomics.OfFloat(words, 0)
		sum.Add(0, 0.25)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(sum.Load(0))
		}
		return nil
	})
	// Output: 1
}

// A switch on every PE, which PE 0 turns on.
func ExampleBool() {
	onPEs(3, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[uint32](ctx, w, 1)
		if err != nil {
			return err
		}
		running := atomics.BoolOf(words, 0)
		if w.PE() == 0 {
			for pe := range w.NPEs() {
				running.Store(pe, true)
			}
		}
		if err := running.WaitUntil(ctx, true); err != nil {
			return err
		}
		if w.PE() == 2 {
			fmt.Println("running:", running.Load(2))
		}
		return w.Barrier(ctx)
	})
	// Output: running: true
}

// One PE does the work: the first to set the flag. The others wait for a flag of their own.
func ExampleFlag() {
	onPEs(4, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[uint32](ctx, w, 2)
		if err != nil {
			return err
		}
		claimed, done := atomics.FlagOf(words, 0), atomics.FlagOf(words, 1)
		if !claimed.TestAndSet(0) {
			fmt.Println("work")
			for pe := range w.NPEs() {
				done.Set(pe)
			}
		}
		if err := done.Wait(ctx); err != nil {
			return err
		}
		return w.Barrier(ctx)
	})
	// Output: work
}
