package sim_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// counter adds up what every PE adds on PE 0.
func counter(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[int64](ctx, w, 2)
	if err != nil {
		return err
	}
	sum := pgas.AtomicOf(words, 0)
	for range 10 {
		sum.FetchAdd(0, int64(w.PE()))
	}
	words.At(1).Put((w.PE()+1)%w.NPEs(), int64(w.PE()))
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	n := w.NPEs()
	if got, want := sum.Fetch(0), int64(10*n*(n-1)/2); got != want {
		return fmt.Errorf("the sum is %d, want %d", got, want)
	}
	if got, want := words.Local()[1], int64((w.PE()+n-1)%n); got != want {
		return fmt.Errorf("the neighbour put %d, want %d", got, want)
	}
	return nil
}

func TestRun(t *testing.T) {
	for _, npes := range []int{1, 2, 3, 16, 100} {
		for _, cfg := range []sim.Config{{}, {Topology: "numa:2,host:2,rack:2"}, {Adversary: true}, {Adversary: true, Atomics: sim.Split}} {
			r, err := sim.Run(t.Context(), cfg, npes, counter)
			if err != nil {
				t.Fatalf("%d PEs, %+v: %v", npes, cfg, err)
			}
			t.Logf("%d PEs: %+v", npes, r)
		}
	}
}
