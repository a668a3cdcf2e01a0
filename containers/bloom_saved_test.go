package containers_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
)

// savedBloom runs a job with a filter for keys keys of type K. With adds not 0 the filter has all keys below some, gets
// so many more, and is saved.
func savedBloom[K int32 | uint32 | int64](t *testing.T, store ckpt.Store, j savedOn, keys int, rate float64, some, adds int) error {
	return j.run(t, store, func(ctx context.Context, p *savedPE) error {
		b, err := containers.NewBloom[K](ctx, p.World, keys, rate, p.over...)
		if err != nil {
			return err
		}
		if p.team != nil && some > 0 {
			b.Add(K(-p.team.PE())) // what is restored takes its place
			if err := p.team.Barrier(ctx); err != nil {
				return err
			}
		}
		if err := p.restore(ctx, b, some > 0 || adds == 0); err != nil {
			return err
		}
		if p.team == nil {
			return p.save(ctx)
		}
		about, err := b.Count(ctx)
		if err != nil || math.Abs(about-float64(some)) > 3+0.05*float64(some) {
			return fmt.Errorf("about %v keys, want %d: %v", about, some, err)
		}
		lo, hi := p.team.Share(adds)
		for k := lo; k < hi; k++ {
			b.Add(K(some + k))
		}
		if err := p.team.Barrier(ctx); err != nil {
			return err
		}
		for k := range some + adds {
			if !b.MayHave(K(k)) {
				return fmt.Errorf("key %d of %d is missing", k, some)
			}
		}
		return p.save(ctx)
	})
}

// TestBloomSaved: a filter is restored on other numbers of PEs and members, with all keys that were added and about no
// others, and can be added to.
func TestBloomSaved(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	for i, j := range savedOns {
		if err := savedBloom[int32](t, store, j, 2000, 0.01, 100*i, 100); err != nil {
			t.Fatalf("job %d, %v: %v", i, j, err)
		}
	}
}

// TestBloomNotRestored: a filter for other numbers or other keys is refused.
func TestBloomNotRestored(t *testing.T) {
	const other = "it was saved with another number of keys or another rate"
	for want, run := range map[string]func(*testing.T, ckpt.Store, savedOn, int, float64, int, int) error{
		other:                                    savedBloom[int32],
		"it was saved with keys of another type": savedBloom[int64],
	} {
		for keys, rate := range map[int]float64{5000: 0.001, 6000: 0.01} {
			store := ckpt.Dir(t.TempDir())
			if err := savedBloom[int32](t, store, savedOn{pes: 3}, 5000, 0.01, 0, 10); err != nil {
				t.Fatal(err)
			}
			mustRefuse(t, run(t, store, savedOn{pes: 2}, keys, rate, 10, 0), want)
		}
	}
}
