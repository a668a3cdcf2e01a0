package pgas_test

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// Ten rows in blocks, one for each PE.
func ExampleTeam_Share() {
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		if w.PE() > 0 {
			return nil
		}
		for pe := range w.NPEs() {
			lo, hi := w.Team().ShareOf(pe, 10)
			fmt.Printf("PE %d has rows %d to %d\n", pe, lo, hi-1)
		}
		fmt.Println("PE", w.Team().OwnerOf(6, 10), "has row 6")
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// PE 0 has rows 0 to 2
	// PE 1 has rows 3 to 5
	// PE 2 has rows 6 to 9
	// PE 2 has row 6
}

// One number in, the sum out, on every PE.
func ExampleSumValue() {
	err := pgastest.Goroutines(context.Background(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		wrong := w.PE() // what this PE has found
		all, err := pgas.SumValue(ctx, w.Team(), wrong)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println(all, "are wrong")
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 6 are wrong
}

// The place of the least value: a struct and a function that compares.
func ExampleReduce1() {
	type place struct {
		value float64
		pe    int
	}
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		mine := place{value: float64((w.PE() + 1) % 3), pe: w.PE()}
		least, err := pgas.Reduce1(ctx, w.Team(), mine, func(a, b place) place {
			if b.value < a.value || b.value == a.value && b.pe < a.pe {
				return b
			}
			return a
		})
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println("PE", least.pe, "has", least.value)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: PE 2 has 0
}

// What each PE has found, however much it is, on PE 0.
func ExampleGather() {
	err := pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		var found []int
		for i := range w.PE() {
			found = append(found, 10*w.PE()+i)
		}
		all, err := pgas.Gather(ctx, w.Team(), found, 0)
		if err != nil {
			return err
		}
		for pe, found := range all { // on PE 0 only
			fmt.Println("PE", pe, found)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// PE 0 []
	// PE 1 [10]
	// PE 2 [20 21]
}

// PE 0 reads the settings, and all have them.
func ExampleBroadcastSlice() {
	err := pgastest.Goroutines(context.Background(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		var settings []byte
		if w.PE() == 0 {
			settings = []byte("rows=100")
		}
		settings, err := pgas.BroadcastSlice(ctx, w.Team(), settings, 0)
		if err != nil {
			return err
		}
		if w.PE() == 1 {
			fmt.Printf("PE 1 has %s\n", settings)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: PE 1 has rows=100
}

// Two goroutines of each PE: the first error of either would end the other and come out of Wait.
func ExampleWorld_Go() {
	err := pgastest.Goroutines(context.Background(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		tell := func(ctx context.Context) error {
			pgas.AtomicOf(words, 0).Set(1-w.PE(), 1)
			return nil
		}
		hear := func(ctx context.Context) error {
			_, err := pgas.AtomicOf(words, 0).WaitUntil(ctx, pgas.EQ, 1)
			return err
		}
		if err := w.Go(ctx, tell, hear).Wait(); err != nil {
			return err
		}
		if w.PE() == 0 {
			fmt.Println("PE 0 has heard of PE 1")
		}
		return w.Barrier(ctx)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: PE 0 has heard of PE 1
}
