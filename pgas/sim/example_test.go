package sim_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// What a fetch-add costs on a Cray XC30, depending on where the word is.
func Example() {
	cfg := sim.Config{Topology: "numa:4,host:2,rack:2"}
	_, err := sim.Run(context.Background(), cfg, 32, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		if w.PE() > 0 {
			return w.Sleep(ctx, time.Millisecond) // and leaves the network to PE 0
		}
		for _, pe := range []int{0, 1, 4, 8} {
			start := w.Now()
			pgas.AtomicOf(words, 0).FetchAdd(pe, 1)
			fmt.Printf("PE %d: %v\n", pe, w.Now()-start)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// PE 0: 2ns
	// PE 1: 43ns
	// PE 4: 112ns
	// PE 8: 2.452µs
}

// A lock that looks first and takes later is found out, with two PEs and in no time.
func ExampleExplore() {
	holders := 0
	_, err := sim.Explore(context.Background(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
		holders = 0
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		lock := pgas.AtomicOf(words, 0)
		sim.Start(ctx)
		for lock.Fetch(0) != 0 {
			w.Yield()
		}
		lock.Set(0, 1)
		if holders++; holders > 1 {
			return errors.New("two PEs hold the lock")
		}
		w.Yield()
		holders--
		lock.Set(0, 0)
		return nil
	})
	var failure *sim.Failure
	if errors.As(err, &failure) {
		fmt.Println(failure.Err)
	}
	// Output: two PEs hold the lock
}
