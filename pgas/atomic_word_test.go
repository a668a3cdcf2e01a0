package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestAtomicsRing: an update of a word on which its owner sleeps has the effect of any other, returns the same, and
// rings the doorbell once; of a PE that is awake it rings none. A compare-swap rings whether it has stored or not.
func TestAtomicsRing(t *testing.T) {
	t.Setenv("PGAS_CHECK", "0")
	t.Run("8 bytes", func(t *testing.T) { atomicsRing[int64](t) })
	t.Run("unsigned", func(t *testing.T) { atomicsRing[uint64](t) })
	t.Run("4 bytes", func(t *testing.T) { atomicsRing[int32](t) })
}

func atomicsRing[W pgas.Word](t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[W](ctx, w, 1)
		if err != nil {
			return err
		}
		word, st := pgas.AtomicOf(s, 0), private.Node(w).State
		defer st.Waiting.Store(0)
		for _, waiting := range []uint64{0, boot.AnyWord} {
			for _, op := range []struct {
				name     string
				run      func() W
				old, now W
			}{
				{"Set", func() W { word.Set(0, 9); return 7 }, 7, 9},
				{"Swap", func() W { return word.Swap(0, 9) }, 7, 9},
				{"CompareSwap", func() W { return word.CompareSwap(0, 7, 9) }, 7, 9},
				{"CompareSwap in vain", func() W { return word.CompareSwap(0, 8, 9) }, 7, 7},
				{"FetchAdd", func() W { return word.FetchAdd(0, 2) }, 7, 9},
				{"Add", func() W { word.Add(0, 2); return 7 }, 7, 9},
				{"FetchInc", func() W { return word.FetchInc(0) }, 7, 8},
				{"Inc", func() W { word.Inc(0); return 7 }, 7, 8},
				{"FetchOr", func() W { return word.FetchOr(0, 8) }, 7, 15},
				{"FetchAnd", func() W { return word.FetchAnd(0, 3) }, 7, 3},
				{"FetchXor", func() W { return word.FetchXor(0, 1) }, 7, 6},
			} {
				s.Local()[0] = 7
				st.Waiting.Store(waiting)
				before := st.Doorbell.Load()
				old := op.run()
				rung := st.Doorbell.Load() - before
				st.Waiting.Store(0)
				if old != op.old || word.Fetch(0) != op.now || (rung == 1) != (waiting != 0) || rung > 1 {
					return fmt.Errorf("%s, waiting for %d: returned %d, left %d, rang %d times", op.name, waiting, old, word.Fetch(0), rung)
				}
			}
		}
		return nil
	})
}

// TestAtomicsOutOfRange: the message names the PE that the program gave, whatever it is.
func TestAtomicsOutOfRange(t *testing.T) {
	t.Setenv("PGAS_CHECK", "0")
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		wide, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		narrow, err := pgas.Alloc[int32](ctx, w, 1)
		if err != nil {
			return err
		}
		for _, pe := range []int{-1, 1, 2, math.MinInt32, math.MaxInt32, -1 << 39, 1 << 39} {
			for name, run := range map[string]func(){
				"8 bytes": func() { pgas.AtomicOf(wide, 0).FetchAdd(pe, 1) }, "4 bytes": func() { pgas.AtomicOf(narrow, 0).FetchAdd(pe, 1) },
				"8 bytes, compared": func() { pgas.AtomicOf(wide, 0).CompareSwap(pe, 0, 1) }, "4 bytes, compared": func() { pgas.AtomicOf(narrow, 0).CompareSwap(pe, 0, 1) },
				"8 bytes, swapped": func() { pgas.AtomicOf(wide, 0).Swap(pe, 1) }, "4 bytes, swapped": func() { pgas.AtomicOf(narrow, 0).Swap(pe, 1) },
				"8 bytes, none returned": func() { pgas.AtomicOf(wide, 0).Add(pe, 1) }, "4 bytes, none returned": func() { pgas.AtomicOf(narrow, 0).Set(pe, 1) },
			} {
				p, _ := recoveredFrom(w, run)
				var misuse *pgas.UsageError
				if err, _ := p.(error); !errors.As(err, &misuse) || !strings.Contains(err.Error(), fmt.Sprintf("PE %d is out of range", pe)) {
					return fmt.Errorf("%s, PE %d: %v", name, pe, p)
				}
			}
		}
		return nil
	})
}

// TestAtomicsBetweenAll: every PE updates a word of its own on every PE, those of hosts before and behind it too.
func TestAtomicsBetweenAll(t *testing.T) {
	t.Setenv("PGAS_CHECK", "0") // checks have no fast path
	onEvery(t, 4, betweenAll)
	t.Run("two a host", func(t *testing.T) { pgastest.RunHosts(t, 4, 2, betweenAll, "PGAS_CHECK=0") })
}

func betweenAll(ctx context.Context, w *pgas.World) error {
	wide, err := pgas.Alloc[int64](ctx, w, w.NPEs())
	if err != nil {
		return err
	}
	narrow, err := pgas.Alloc[uint32](ctx, w, w.NPEs())
	if err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	for pe := range w.NPEs() {
		if err := errors.Join(updatesOf(ctx, w, pgas.AtomicOf(wide, w.PE()), pe), updatesOf(ctx, w, pgas.AtomicOf(narrow, w.PE()), pe)); err != nil {
			return fmt.Errorf("PE %d on PE %d: %w", w.PE(), pe, err)
		}
	}
	return w.Barrier(ctx)
}

// updatesOf runs each operation on a word that is 0, and that no other PE updates.
func updatesOf[W pgas.Word](ctx context.Context, w *pgas.World, a pgas.Atomic[W], pe int) error {
	var got []W
	note := func(v W) { got = append(got, v) }
	note(a.CompareSwap(pe, 5, 1)) // in vain
	note(a.Fetch(pe))
	note(a.CompareSwap(pe, 0, 1))
	note(a.Swap(pe, 2))
	note(a.FetchAdd(pe, 3))
	note(a.FetchInc(pe))
	a.Add(pe, 4)
	a.Inc(pe)
	err := w.Quiet(ctx)
	note(a.Fetch(pe))
	a.Set(pe, 9)
	err = errors.Join(err, w.Quiet(ctx))
	note(a.Fetch(pe))
	if want := []W{0, 0, 0, 1, 2, 5, 11, 9}; !slices.Equal(got, want) {
		return errors.Join(err, fmt.Errorf("%v, want %v", got, want))
	}
	return err
}
