package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
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
