package coherent_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/coherent"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// pair is an element that lies across the edges of blocks.
type pair struct {
	a int64
	b int32
	c [5]byte
}

func pairOf(n int) pair { return pair{int64(n), int32(-n), [5]byte{byte(n)}} }

// open makes a region of small blocks, so that shares have edges within them.
func open(ctx context.Context, w *pgas.World) (*dsm.Region, error) {
	return dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Block: 4096})
}

// TestArray: rounds in which each PE writes elements that the round gives it, in one of the ways that there are, and
// then all read all.
func TestArray(t *testing.T) { onAll(t, rounds) }

// onAll runs a body on every kind of PE, but not in the simulator under the race detector, which has nothing to find
// there: all simulated PEs run on one goroutine.
func onAll(t *testing.T, body pgastest.Body) {
	if raceDetector {
		pgastest.Run(t, 3, body)
		return
	}
	pgastest.RunAll(t, 3, body)
}

func rounds(ctx context.Context, w *pgas.World) error {
	r, err := open(ctx, w)
	if err != nil {
		return err
	}
	for _, n := range []int{0, 2, 700} {
		a, err := coherent.New[pair](ctx, w, r, n)
		if err != nil {
			return err
		}
		if err := places(w, a); err != nil {
			return fmt.Errorf("%d elements: %w", n, err)
		}
		want := make([]pair, n)
		for round := range 4 {
			if err := write(a, w, round, want); err != nil {
				return err
			}
			if err := r.Barrier(ctx); err != nil {
				return err
			}
			if err := reads(a, round, want); err != nil {
				return fmt.Errorf("PE %d, %d elements, round %d: %w", w.PE(), n, round, err)
			}
			if err := r.Barrier(ctx); err != nil {
				return err
			}
		}
	}
	return r.Close(ctx)
}

// places compares the arithmetic with Team.Share.
func places(w *pgas.World, a *coherent.Array[pair]) error {
	i := 0
	for pe := range w.NPEs() {
		lo, hi := w.Team().ShareOf(pe, a.Len())
		if mineLo, mineHi := a.Share(); pe == w.PE() && (mineLo != lo || mineHi != hi || len(a.Local()) != hi-lo) {
			return fmt.Errorf("Share is %d to %d, want %d to %d", mineLo, mineHi, lo, hi)
		}
		for at := range hi - lo {
			if gotPE, gotAt := a.Locate(i); gotPE != pe || gotAt != at || a.Owner(i) != pe || a.Index(pe, at) != i {
				return fmt.Errorf("element %d is at %d of PE %d, want %d of %d", i, gotAt, gotPE, at, pe)
			}
			i++
		}
	}
	return nil
}

// write has each PE write what the round gives it, and sets want to what all have written.
func write(a *coherent.Array[pair], w *pgas.World, round int, want []pair) error {
	switch round {
	case 0: // its share, by pointers
		for i, p := range a.LocalAll() {
			*p = pairOf(i)
		}
	case 1: // its share, all the same
		a.Fill(pairOf(7))
	case 2: // the next PE's share
		lo, hi := w.Team().ShareOf((w.PE()+1)%w.NPEs(), a.Len())
		src := make([]pair, hi-lo)
		for at := range src {
			src[at] = pairOf(3 * (lo + at))
		}
		a.PutRange(lo, src)
	case 3: // every so manieth element
		for i := w.PE(); i < a.Len(); i += w.NPEs() {
			a.Set(i, pairOf(a.Len()-i))
		}
	}
	for i := range want {
		want[i] = []pair{pairOf(i), pairOf(7), pairOf(3 * i), pairOf(len(want) - i)}[round]
	}
	return nil
}

// reads reads all elements in every way.
func reads(a *coherent.Array[pair], round int, want []pair) error {
	got := make([]pair, 0, len(want))
	for i, v := range a.All() {
		if i != len(got) {
			return fmt.Errorf("All meets element %d as number %d", i, len(got))
		}
		got = append(got, v)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("All has %d elements, and not those that were written", len(got))
	}
	for range min(len(want), 1) {
		rnd := rand.New(rand.NewPCG(1, uint64(round)))
		lo := rnd.IntN(len(want))
		dst := make([]pair, rnd.IntN(len(want)-lo+1))
		a.GetRange(lo, dst)
		if !slices.Equal(dst, want[lo:lo+len(dst)]) {
			return fmt.Errorf("GetRange(%d): not the %d elements that were written", lo, len(dst))
		}
		if i := rnd.IntN(len(want)); a.At(i) != want[i] {
			return fmt.Errorf("At(%d): %v, want %v", i, a.At(i), want[i])
		}
	}
	return nil
}

// TestArrayCopies: to arrays of package containers and back, and reductions in the order of the indexes.
func TestArrayCopies(t *testing.T) {
	onAll(t, func(ctx context.Context, w *pgas.World) error {
		r, err := open(ctx, w)
		if err != nil {
			return err
		}
		for _, n := range []int{0, 2, 600} {
			for _, deal := range [][]containers.Option{nil, {containers.Cyclic()}, {containers.BlockCyclic(7)}} {
				if err := copies(ctx, w, r, n, deal); err != nil {
					return fmt.Errorf("PE %d, %d elements: %w", w.PE(), n, err)
				}
			}
		}
		return r.Close(ctx)
	})
}

func copies(ctx context.Context, w *pgas.World, r *dsm.Region, n int, deal []containers.Option) error {
	a, err := coherent.New[int64](ctx, w, r, n)
	if err != nil {
		return err
	}
	b, err := containers.NewArray[int64](ctx, w, n, deal...)
	if err != nil {
		return err
	}
	for i := w.PE(); i < n; i += w.NPEs() {
		b.Put(i, int64(i))
	}
	if err := a.CopyFrom(ctx, b); err != nil {
		return err
	}
	for i, v := range a.All() {
		if v != int64(i) {
			return fmt.Errorf("CopyFrom: element %d is %d", i, v)
		}
	}
	last, any, err := a.Reduce(ctx, func(_, y int64) int64 { return y })
	if err != nil || any != (n > 0) || any && last != int64(n-1) {
		return fmt.Errorf("the last element of all is %d, %t: %w", last, any, err)
	}
	sum, _, err := a.Reduce(ctx, func(x, y int64) int64 { return x + y })
	if err != nil || sum != int64(n*(n-1)/2) {
		return fmt.Errorf("the sum is %d: %w", sum, err)
	}
	if err := r.Barrier(ctx); err != nil {
		return err
	}
	for i := w.PE(); i < n; i += w.NPEs() {
		a.Set(i, -int64(i))
	}
	if err := a.CopyTo(ctx, b); err != nil {
		return err
	}
	for i, v := range b.All() {
		if v != -int64(i) {
			return fmt.Errorf("CopyTo: element %d is %d", i, v)
		}
	}
	return b.Free(ctx)
}
