package containers_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestBloomRate: the rate of false positives is what the filter was made for, and what a filter needs is not much more
// than what one needs whose bits may be anywhere.
func TestBloomRate(t *testing.T) {
	for _, rate := range []float64{0.1, 0.01, 0.001} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			perKey, ofKey := containers.BloomSize(rate)
			least := -math.Log(rate) / (math.Ln2 * math.Ln2)
			t.Logf("%.1f bits for each key, of which a key sets %d; a filter without blocks needs %.1f", perKey, ofKey, least)
			if perKey < least || perKey > 2.5*least {
				t.Errorf("%.1f bits for each key, and a filter without blocks needs %.1f", perKey, least)
			}
			pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
				const keys, asked = 40_000, 200_000
				b, err := containers.NewBloom[int](ctx, w, keys, rate)
				if err != nil {
					return err
				}
				for i := w.PE(); i < keys; i += w.NPEs() {
					b.Add(i)
				}
				if err := w.Barrier(ctx); err != nil {
					return err
				}
				wrong := 0
				for i := range asked {
					if b.MayHave(keys + w.PE()*asked + i) {
						wrong++
					}
				}
				// 5 standard deviations of asked tries, and 8 % for what the theory leaves out.
				got := float64(wrong) / asked
				if off := math.Abs(got - rate); off > 5*math.Sqrt(rate/asked)+0.08*rate {
					return fmt.Errorf("%.5f of other keys are found, want %v", got, rate)
				}
				return b.Free(ctx)
			})
		})
	}
}

// TestBloom: every key that any member has added is found by all, a member finds its own at once, and unions and
// counts are what they should be.
func TestBloom(t *testing.T) {
	type key struct {
		A uint32
		B [2]uint16
	}
	const keys = 300
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		var filters [2]*containers.Bloom[key]
		for i := range filters {
			var err error
			if filters[i], err = containers.NewBloom[key](ctx, w, 2*3*keys, 0.01); err != nil {
				return err
			}
		}
		keyOf := func(pe, i int) key { return key{uint32(pe), [2]uint16{uint16(i), 7}} }
		for i := range keys {
			k := keyOf(w.PE(), i)
			filters[0].Add(k)
			if !filters[0].MayHave(k) {
				return fmt.Errorf("%v is not found, which this PE has added", k)
			}
		}
		var other []key
		for i := range keys {
			other = append(other, keyOf(w.PE(), keys+i))
		}
		filters[1].AddAll(other)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		var all []key
		for pe := range w.NPEs() {
			for i := range keys {
				all = append(all, keyOf(pe, i))
			}
		}
		for i, ok := range filters[0].MayHaveAll(all, nil) {
			if !ok {
				return fmt.Errorf("%v is not found", all[i])
			}
		}
		if err := about(ctx, filters[0], 3*keys); err != nil {
			return err
		}
		if err := filters[0].Union(ctx, filters[1]); err != nil {
			return err
		}
		for i, ok := range filters[0].MayHaveAll(append(all, other...), nil) {
			if !ok {
				return fmt.Errorf("key %d is not found in the union", i)
			}
		}
		if err := about(ctx, filters[0], 6*keys); err != nil {
			return err
		}
		for _, f := range filters {
			if err := f.Free(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// about checks what a filter says about the number of its keys.
func about[K any](ctx context.Context, b *containers.Bloom[K], want int) error {
	n, err := b.Count(ctx)
	if err != nil || math.Abs(n-float64(want)) > 0.1*float64(want) {
		return fmt.Errorf("the filter is said to have %.1f keys, %v, want about %d", n, err, want)
	}
	return nil
}

func TestBloomMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		type gaps struct {
			A uint8
			B uint64
		}
		b, err := containers.NewBloom[int](ctx, w, 10, 0.1)
		if err != nil {
			return err
		}
		small, err := containers.NewBloom[int](ctx, w, 1000, 0.1)
		if err != nil {
			return err
		}
		var nilctx context.Context
		return misuses(t, map[string]func(){
			"no keys":       func() { containers.NewBloom[int](ctx, w, 0, 0.1) },
			"no rate":       func() { containers.NewBloom[int](ctx, w, 1, math.NaN()) },
			"gaps":          func() { containers.NewBloom[gaps](ctx, w, 1, 0.1) },
			"no bytes":      func() { containers.NewBloom[struct{}](ctx, w, 1, 0.1) },
			"strings":       func() { containers.NewBloom[string](ctx, w, 1, 0.1) },
			"other numbers": func() { b.Union(ctx, small) },
			"nil":           func() { (*containers.Bloom[int])(nil).Add(1) },
			"zero":          func() { new(containers.Bloom[int]).MayHave(1) },
			"Count without": func() { b.Count(nilctx) },
			"Free without":  func() { b.Free(nilctx) },
		})
	})
}
