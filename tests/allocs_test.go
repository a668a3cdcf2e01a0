package tests

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/atomics"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestSteadyPathDoesNotAllocate: one table of the operations a program repeats, each with no
// allocation, on the fast path and (slow) where every access goes through the transport.
func TestSteadyPathDoesNotAllocate(t *testing.T) {
	for _, slow := range []bool{false, true} {
		t.Run(fmt.Sprintf("slow=%v", slow), func(t *testing.T) {
			opts := pgastest.Options{NoFastPath: slow}
			err := pgastest.Goroutines(t.Context(), 2, opts, func(ctx context.Context, w *pgas.World) error {
				return countAllocations(ctx, t, w)
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func countAllocations(ctx context.Context, t *testing.T, w *pgas.World) error {
	words, err := pgas.Alloc[int64](ctx, w, 64)
	if err != nil {
		return err
	}
	signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err != nil {
		return err
	}
	numbers, err := pgas.Alloc[float64](ctx, w, 1)
	if err != nil {
		return err
	}
	flags, err := pgas.Alloc[uint32](ctx, w, 1)
	if err != nil {
		return err
	}
	if w.PE() == 0 {
		ref, row, word, sig := words.At(1), words.Range(8, 64), pgas.AtomicOf(words, 0), pgas.SignalOf(signals, 0)
		number, view, flag := pgas.AtomicFloatOf(numbers, 0), atomics.Of(words, 1), atomics.FlagOf(flags, 0)
		var v int64
		var f float64
		buf := make([]int64, 56)
		for _, op := range []struct {
			name string
			run  func()
		}{
			{"put", func() { ref.Put(1, 2) }},
			{"get", func() { v += ref.Get(1) }},
			{"put slice", func() { row.Put(1, buf) }},
			{"get slice", func() { row.Get(1, buf) }},
			{"get non-blocking", func() { row.GetNB(1, buf) }},
			{"put slice non-blocking", func() { row.PutNB(1, buf).Done() }},
			{"put strided", func() { row.IPut(1, buf, 3, 2, 15) }},
			{"put strided, contiguous", func() { row.IPutNB(1, buf, 1, 1, 56) }},
			{"put blocks", func() { row.IBPut(1, buf, 8, 5, 5, 7) }},
			{"get strided", func() { row.IGet(1, buf, 2, 3, 15) }},
			{"get blocks", func() { row.IBGet(1, buf, 5, 8, 5, 7) }},
			{"get blocks non-blocking", func() { row.IBGetNB(1, buf, 5, 8, 5, 7) }},
			{"pointer", func() { row.Ptr(1)[0]++ }},
			{"fetch-add", func() { v += word.FetchAdd(1, 1) }},
			{"add", func() { word.Add(1, 1) }},
			{"compare-swap", func() { v += word.CompareSwap(1, 1, 2) }},
			{"fetch-add non-blocking", func() { word.FetchAddNB(1, 1, &buf[0]) }},
			{"max", func() { word.Max(1, 7) }},
			{"float add", func() { f += number.FetchAdd(1, 1) }},
			{"view", func() { v += view.Add(1, 1) }},
			{"view's compare-and-swap", func() { view.CompareAndSwap(1, 1, 2) }},
			{"flag", func() { flag.Set(1); flag.TestAndSet(1) }},
			{"put-signal", func() { row.PutSignal(1, buf, sig, 1) }},
			{"fence", w.Fence},
			{"quiet here", func() { err = w.Context().QuietLocal(ctx) }},
			{"quiet", func() { err = w.Quiet(ctx) }},
			{"wait that need not", func() { _, err = word.WaitUntil(ctx, pgas.GE, 0) }},
			{"test", func() { sig.Test(pgas.EQ, 1) }},
		} {
			if n := testing.AllocsPerRun(100, op.run); n != 0 {
				t.Errorf("%s: %v allocations", op.name, n)
			}
			if err != nil {
				return err
			}
		}
	}
	return w.Barrier(ctx)
}
