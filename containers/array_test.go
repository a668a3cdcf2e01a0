package containers_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// distributions are those that every test of arrays runs on.
var distributions = map[string][]containers.Option{
	"block":  nil,
	"cyclic": {containers.Cyclic()},
	"turns":  {containers.BlockCyclic(3)},
}

// lengths are those of arrays: none, fewer than members, and one that nothing divides.
var lengths = []int{0, 1, 3, 5, 97, 700}

// onArrays runs f on arrays of every distribution and length.
func onArrays(ctx context.Context, w *pgas.World, f func(a *containers.Array[int64]) error) error {
	for _, name := range slices.Sorted(maps.Keys(distributions)) {
		for _, n := range lengths {
			a, err := containers.NewArray[int64](ctx, w, n, append([]containers.Option{containers.Ring(128)}, distributions[name]...)...)
			if err != nil {
				return err
			}
			if err := f(a); err != nil {
				return fmt.Errorf("%s array of %d on PE %d: %w", name, n, w.PE(), err)
			}
			if err := a.Free(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestArrayPlaces: every element is at one place, and at one only; parts are in the order of their indexes.
func TestArrayPlaces(t *testing.T) {
	for npes := 1; npes <= 5; npes++ {
		pgastest.RunGoroutines(t, npes, func(ctx context.Context, w *pgas.World) error {
			return onArrays(ctx, w, func(a *containers.Array[int64]) error {
				next := make([]int, w.NPEs())
				for i := range a.Len() {
					pe, at := a.Locate(i)
					if at != next[pe] || a.Index(pe, at) != i || a.Owner(i) != pe {
						return fmt.Errorf("element %d is at place %d of PE %d, whose next is %d; that place has index %d", i, at, pe, next[pe], a.Index(pe, at))
					}
					next[pe]++
				}
				if n := len(a.Local()); n != next[w.PE()] {
					return fmt.Errorf("Local has %d elements, want %d", n, next[w.PE()])
				}
				return nil
			})
		})
	}
}

// TestArrayBlocksAreShares: an array in blocks is divided as Team.Share divides.
func TestArrayBlocksAreShares(t *testing.T) {
	pgastest.RunGoroutines(t, 4, func(ctx context.Context, w *pgas.World) error {
		for _, n := range lengths {
			a, err := containers.NewArray[int64](ctx, w, n)
			if err != nil {
				return err
			}
			lo, hi := w.Team().Share(n)
			if len(a.Local()) != hi-lo || hi > lo && a.Index(w.PE(), 0) != lo {
				return fmt.Errorf("%d of %d elements, Share has %d to %d", len(a.Local()), n, lo, hi)
			}
		}
		return nil
	})
}

// TestArrayRandom compares arrays with a slice: random ranges, single elements, gathers, scatters and updates, which
// every member computes alike and divides among the members.
func TestArrayRandom(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		return onArrays(ctx, w, func(a *containers.Array[int64]) error { return arrayProgram(ctx, w, a, 10) })
	})
}

func arrayProgram(ctx context.Context, w *pgas.World, a *containers.Array[int64], steps int) error {
	n := a.Len()
	all := rand.New(rand.NewPCG(11, uint64(n)))             // the same on every PE
	own := rand.New(rand.NewPCG(uint64(n), uint64(w.PE()))) // of this PE
	twin := make([]int64, n)
	for step := range steps {
		var err error
		switch op := all.IntN(7); op {
		case 0: // one member writes a range
			lo, hi := randomRange(all, n)
			values := randomValues(all, hi-lo)
			if all.IntN(w.NPEs()) == w.PE() {
				a.PutRange(lo, values)
			}
			copy(twin[lo:], values)
		case 1: // each member scatters to indexes of its own
			idx, values := divided(all, w, n)
			for pe := range idx {
				for k, i := range idx[pe] {
					twin[i] = values[pe][k]
				}
			}
			err = a.Scatter(ctx, idx[w.PE()], values[w.PE()])
		case 2, 3, 4: // updates of the same elements by all
			err = updated(ctx, w, a, all, twin, op)
		case 5:
			f := func(x, v int64) int64 { return x ^ v }
			idx, values := drawn(all, w, n)
			for pe := range idx {
				for k, i := range idx[pe] {
					twin[i] = f(twin[i], values[pe][k])
				}
			}
			err = a.Combine(ctx, idx[w.PE()], values[w.PE()], f)
		case 6:
			if n > 0 {
				i, v := all.IntN(n), all.Int64()
				if w.PE() == 0 {
					a.Put(i, v)
				}
				twin[i] = v
			}
		}
		if err != nil {
			return err
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if err := sameArray(ctx, a, twin, own); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// updated has each member update random elements, and the twin, too.
func updated(ctx context.Context, w *pgas.World, a *containers.Array[int64], all *rand.Rand, twin []int64, op int) error {
	idx, values := drawn(all, w, len(twin))
	f := map[int]func(x, v int64) int64{
		2: func(x, _ int64) int64 { return x + 1 },
		3: func(x, v int64) int64 { return x + v },
		4: func(x, v int64) int64 { return max(x, v) },
	}[op]
	for pe := range idx {
		for k, i := range idx[pe] {
			twin[i] = f(twin[i], values[pe][k])
		}
	}
	switch op {
	case 2:
		return containers.Count(ctx, a, idx[w.PE()])
	case 3:
		return containers.AddAll(ctx, a, idx[w.PE()], values[w.PE()])
	}
	return containers.MaxAll(ctx, a, idx[w.PE()], values[w.PE()])
}

// drawn returns random indexes and values for each member.
func drawn(rnd *rand.Rand, w *pgas.World, n int) (idx [][]int, values [][]int64) {
	idx, values = make([][]int, w.NPEs()), make([][]int64, w.NPEs())
	for pe := range idx {
		if n == 0 {
			continue
		}
		for range rnd.IntN(300) {
			idx[pe] = append(idx[pe], rnd.IntN(n))
		}
		values[pe] = randomValues(rnd, len(idx[pe]))
	}
	return idx, values
}

// divided is drawn with no index twice.
func divided(rnd *rand.Rand, w *pgas.World, n int) (idx [][]int, values [][]int64) {
	idx, values = make([][]int, w.NPEs()), make([][]int64, w.NPEs())
	for _, i := range rnd.Perm(n) {
		pe := rnd.IntN(w.NPEs() + 1)
		if pe < w.NPEs() {
			idx[pe] = append(idx[pe], i)
		}
	}
	for pe := range values {
		values[pe] = randomValues(rnd, len(idx[pe]))
	}
	return idx, values
}

func randomRange(rnd *rand.Rand, n int) (lo, hi int) {
	lo, hi = rnd.IntN(n+1), rnd.IntN(n+1)
	return min(lo, hi), max(lo, hi)
}

func randomValues(rnd *rand.Rand, n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = rnd.Int64N(1 << 40)
	}
	return values
}

// sameArray compares the array with its twin by every way to read it.
func sameArray(ctx context.Context, a *containers.Array[int64], twin []int64, rnd *rand.Rand) error {
	next := 0
	for i, v := range a.All() {
		if i != next || v != twin[i] {
			return fmt.Errorf("All has element %d = %d, want element %d = %d", i, v, next, twin[next])
		}
		next++
	}
	if next != len(twin) {
		return fmt.Errorf("All has %d elements, want %d", next, len(twin))
	}
	for i, p := range a.LocalAll() {
		if *p != twin[i] {
			return fmt.Errorf("LocalAll has element %d = %d, want %d", i, *p, twin[i])
		}
	}
	lo, hi := randomRange(rnd, len(twin))
	got := make([]int64, hi-lo)
	if err := a.GetRange(ctx, lo, got); err != nil {
		return err
	}
	if !slices.Equal(got, twin[lo:hi]) {
		return fmt.Errorf("GetRange of %d to %d: %d, want %d", lo, hi, got, twin[lo:hi])
	}
	var idx []int
	if len(twin) > 0 {
		for range rnd.IntN(200) {
			idx = append(idx, rnd.IntN(len(twin)))
		}
		if i := idx0(idx); a.Get(i) != twin[i] {
			return fmt.Errorf("Get of element %d: %d, want %d", i, a.Get(i), twin[i])
		}
	}
	values := make([]int64, len(idx))
	if err := a.Gather(ctx, values, idx); err != nil {
		return err
	}
	for k, i := range idx {
		if values[k] != twin[i] {
			return fmt.Errorf("element %d was gathered as %d, want %d", i, values[k], twin[i])
		}
	}
	return nil
}

// idx0 returns the first of some indexes, or 0.
func idx0(idx []int) int {
	if len(idx) == 0 {
		return 0
	}
	return idx[0]
}

// fillSame sets the elements of a to random values, and returns them.
func fillSame(ctx context.Context, w *pgas.World, a *containers.Array[int64], most int64) ([]int64, error) {
	rnd := rand.New(rand.NewPCG(3, uint64(a.Len())))
	twin := make([]int64, a.Len())
	for i := range twin {
		twin[i] = rnd.Int64N(most)
	}
	for i, p := range a.LocalAll() {
		*p = twin[i]
	}
	return twin, w.Barrier(ctx)
}

func TestArraySort(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		for _, most := range []int64{1, 3, 1 << 40} { // all alike, few values, all different
			err := onArrays(ctx, w, func(a *containers.Array[int64]) error {
				twin, err := fillSame(ctx, w, a, most)
				if err != nil {
					return err
				}
				if err := containers.Sort(ctx, a); err != nil {
					return err
				}
				slices.Sort(twin)
				if err := sameArray(ctx, a, twin, rand.New(rand.NewPCG(1, 1))); err != nil {
					return fmt.Errorf("ascending: %w", err)
				}
				if err := a.SortFunc(ctx, func(x, y int64) int { return cmp.Compare(y, x) }); err != nil {
					return err
				}
				slices.Reverse(twin)
				return sameArray(ctx, a, twin, rand.New(rand.NewPCG(1, 1)))
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func TestArrayPrefix(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		return onArrays(ctx, w, func(a *containers.Array[int64]) error {
			twin, err := fillSame(ctx, w, a, 1000)
			if err != nil {
				return err
			}
			if err := containers.PrefixSums(ctx, a); err != nil {
				return err
			}
			total := int64(0)
			for i, v := range twin {
				total += v
				twin[i] = total
			}
			if err := sameArray(ctx, a, twin, rand.New(rand.NewPCG(1, 1))); err != nil {
				return err
			}
			most, any, err := a.Reduce(ctx, func(x, y int64) int64 { return max(x, y) })
			if err == nil && (most != total || any != (len(twin) > 0)) {
				err = fmt.Errorf("the largest prefix sum is %d (%v), want %d", most, any, total)
			}
			return err
		})
	})
}

// TestArrayPrefixOrder: the function of a scan needs not be commutative.
func TestArrayPrefixOrder(t *testing.T) {
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		return onArrays(ctx, w, func(a *containers.Array[int64]) error {
			twin, err := fillSame(ctx, w, a, 1<<40)
			if err != nil {
				return err
			}
			last := func(_, y int64) int64 { return y }
			if err := a.PrefixFunc(ctx, last); err != nil {
				return err
			}
			return sameArray(ctx, a, twin, rand.New(rand.NewPCG(1, 1)))
		})
	})
}

func TestArrayCopy(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		return onArrays(ctx, w, func(a *containers.Array[int64]) error {
			twin, err := fillSame(ctx, w, a, 1<<40)
			if err != nil {
				return err
			}
			for _, name := range slices.Sorted(maps.Keys(distributions)) {
				b, err := containers.NewArray[int64](ctx, w, a.Len(), distributions[name]...)
				if err != nil {
					return err
				}
				if err := b.CopyFrom(ctx, a); err != nil {
					return err
				}
				if err := sameArray(ctx, b, twin, rand.New(rand.NewPCG(1, 1))); err != nil {
					return fmt.Errorf("copied to %s: %w", name, err)
				}
				if err := b.Free(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
