package dsm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// A random program whose PEs keep two blocks of six is right.
func TestCacheMax(t *testing.T) {
	needsPaging(t)
	if raceDetector {
		t.Skip("the detector does not know that a PE's fences order accesses to what the test has of all PEs")
	}
	const block, blocks = 1 << 12, 6
	for _, notices := range []int{-1, 2, 64} {
		o := dsm.Options{Bytes: blocks * block, Block: block, Notices: notices, Mode: dsm.Paged, CacheMax: 2 * block}
		p := &randomProgram{o: opened{Options: o}, locks: 3, rounds: 6, steps: 60, shadow: make([]byte, o.Bytes)}
		pgastest.RunGoroutines(t, 3, p.body) // they share shadow
	}
}

// Pin keeps copies that would be evicted: they are not fetched again.
func TestPin(t *testing.T) {
	needsPaging(t)
	const block, blocks = 1 << 12, 24
	pgastest.Run(t, 2, func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: blocks * block, Block: block, Mode: dsm.Paged, CacheMax: 4 * block})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[byte](ctx, r, blocks*block)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			for b := range blocks {
				a.Set(b*block, byte(1+b))
			}
		}
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 1 {
			err = readPinned(r, a, block, blocks)
		}
		if err != nil {
			return err
		}
		return r.Close(ctx)
	})
}

// readPinned reads the blocks of a three times, the first two of them pinned, and then those two alone.
func readPinned(r *dsm.Region, a dsm.Array[byte], block, blocks int) error {
	a.Pin(0, 2*block)
	for range 3 {
		for b := range blocks {
			if got := a.At(b * block); got != byte(1+b) {
				return fmt.Errorf("block %d has %d", b, got)
			}
		}
	}
	before := r.Stats()
	if a.At(0) != 1 || a.At(block) != 2 {
		return fmt.Errorf("the pinned blocks have %d and %d", a.At(0), a.At(block))
	}
	after := r.Stats()
	if after.Gets != before.Gets || after.Evicted < uint64(blocks) {
		return fmt.Errorf("reading pinned blocks took %d fetches; %d evictions", after.Gets-before.Gets, after.Evicted)
	}
	a.Unpin(0, 2*block)
	return nil
}
