package dsm_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/sim"
)

// oneWay is the time of a message in these tests, beside which everything else takes none.
const oneWay = time.Millisecond

// TestReleaseRounds: a release of blocks that move takes three round trips, however many they are, and one of blocks
// that the PE wrote last takes none. On the simulated machine time passes only while messages are on their way.
func TestReleaseRounds(t *testing.T) {
	for _, blocks := range []int{1, 64} {
		for _, moved := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d blocks, moved %v", blocks, moved), func(t *testing.T) {
				want := 0
				if moved {
					want = 3
				}
				if got := releaseRounds(t, blocks, moved); got != want {
					t.Errorf("the release has taken %d round trips, want %d", got, want)
				}
			})
		}
	}
}

// releaseRounds returns the round trips in which PE 0 releases blocks that it, or PE 1, wrote last.
func releaseRounds(t *testing.T, blocks int, moved bool) (rounds int) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	link := sim.Link{Latency: sim.Nanos(float64(oneWay))}
	costs := sim.Costs{Network: []sim.Link{link}}
	_, err := sim.Run(ctx, sim.Config{Topology: "host:1", Costs: &costs}, 2, func(ctx context.Context, w *pgas.World) error {
		const block = 1 << 12
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: uint64(blocks * block), Block: block})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[int64](ctx, r, blocks*block/8)
		if err != nil {
			return err
		}
		write := func() {
			for b := range blocks {
				a.Set(b*block/8+w.PE(), 1+a.At(b*block/8+w.PE()))
			}
		}
		last := 0 // the PE that writes before PE 0 does so again
		if moved {
			last = 1
		}
		for _, writer := range []int{0, last} {
			if w.PE() == writer {
				write()
			}
			if err := r.Barrier(ctx); err != nil {
				return err
			}
		}
		if w.PE() == 0 {
			write()
			before := w.Now()
			if _, err := r.Release(ctx); err != nil {
				return err
			}
			rounds = int((w.Now() - before + oneWay) / (2 * oneWay))
		}
		return r.Close(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	return rounds
}
