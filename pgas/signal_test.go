package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestSignalSlices: ranges of signals are told apart from each other, and waited for together.
func TestSignalSlices(t *testing.T) {
	const npes = 3
	howeverTheyWait(t, npes, func(ctx context.Context, w *pgas.World) error {
		data, err := pgas.Alloc[uint64](ctx, w, npes)
		if err != nil {
			return err
		}
		sigs, err := pgas.Alloc[pgas.Signal](ctx, w, npes+2)
		if err != nil {
			return err
		}
		arrived := pgas.SignalsOf(sigs.All()).Range(1, npes+1)
		mine := arrived.At(w.PE())
		for pe := range npes {
			v := uint64(100*pe + w.PE())
			data.At(w.PE()).PutSignal(pe, &v, mine, v+1)
		}
		wants := make([]uint64, npes)
		for pe := range wants {
			wants[pe] = uint64(100*w.PE() + pe + 1)
		}
		set, n := arrived.UntilEach(pgas.EQ, wants), 0
		for pe, v := range set.Arrivals(ctx) {
			n++
			if got := data.Local()[pe]; got != v-1 {
				return fmt.Errorf("PE %d sent %d with signal %d", pe, got, v)
			}
		}
		if n != arrived.Len() || arrived.Until(pgas.EQ, 0).TestSome(nil) != nil ||
			pgas.SignalOf(sigs, 0).Fetch() != 0 || pgas.SignalOf(sigs, npes+1).Fetch() != 0 {
			return fmt.Errorf("%d of %d signals came, or others", n, arrived.Len())
		}
		return errors.Join(set.Err(), w.Barrier(ctx))
	})
}

// TestCountedSignals: the value of a signal that one sender adds to on one context counts its puts: a waiter that sees
// k sees the payloads of the first k, small or large, whatever carries them.
//
//ci:ucx
func TestCountedSignals(t *testing.T) {
	pgastest.RunAll(t, 2, countedSignals)
	pgastest.RunLateSeeds(t, 2, 2, 3, countedSignals)
	pgastest.RunNIC(t, 2, countedSignals)
}

func countedSignals(ctx context.Context, w *pgas.World) error {
	// words; the later of two is often the faster
	sizes := []int{40_000, 1, 3_000, 0, 100, 1_000, 1, 40_000, 0, 9_000, 2, 500}
	starts, words := make([]int, len(sizes)), 0
	for i, n := range sizes {
		starts[i] = words
		words += n
	}
	s, err1 := pgas.Alloc[uint64](ctx, w, words)
	signals, err2 := pgas.Alloc[pgas.Signal](ctx, w, 1)
	c, err3 := w.NewContext()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	arrived := pgas.SignalOf(signals, 0)
	const rounds = 3
	for round := range rounds {
		if w.PE() == 0 {
			for i, n := range sizes {
				src := slices.Repeat([]uint64{uint64(round*len(sizes) + i + 1)}, n)
				s.On(c).Range(starts[i], starts[i]+n).PutSignalAdd(1, src, arrived, 1)
			}
		}
		for i := 0; w.PE() == 1 && i < len(sizes); i++ {
			got, err := arrived.WaitUntil(ctx, pgas.GE, uint64(round*len(sizes)+i+1))
			if err != nil {
				return err
			}
			for j := range int(got) - round*len(sizes) {
				for _, v := range s.Local()[starts[j] : starts[j]+sizes[j]] {
					if v != uint64(round*len(sizes)+j+1) {
						return fmt.Errorf("round %d: the signal is %d, and put %d has left %d", round, got, j, v)
					}
				}
			}
		}
		if err := errors.Join(c.Quiet(ctx), w.Barrier(ctx)); err != nil {
			return err
		}
	}
	return c.Close()
}
