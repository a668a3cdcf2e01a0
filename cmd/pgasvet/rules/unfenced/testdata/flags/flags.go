// Package flags has flags that may overtake their data, and others that do not.
package flags

import (
	"context"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/pgas"
)

func signals(w *pgas.World, c design.CellRef, next int) {
	c.PutSum(next, 5)
	c.Ready().Set(next, 1) // want `SignalRef.Set may arrive before what CellRef.PutSum of line 12 puts to the same PE: call Fence between them, or put with signal`
}

func fenced(ctx context.Context, w *pgas.World, c design.CellRef, next int) error {
	c.PutSum(next, 5)
	w.Fence()
	c.Ready().Set(next, 1)
	c.PutSum(next, 5)
	w.Context().FencePE(next)
	c.Ready().Set(next, 1)
	c.PutSum(next, 5)
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	c.Ready().Add(next, 1)
	c.PutSumSignal(next, 5, c.Ready(), 1)
	return nil
}

func otherData(w *pgas.World, c design.CellRef, halo []float64, next int) {
	c.PutHalo(next, 0, halo)
	c.PutSumSignal(next, 5, c.Ready(), 1) // want `CellRef.PutSumSignal announces its own data only, and may arrive before what CellRef.PutHalo of line 33 puts to the same PE`
}

func otherPEs(w *pgas.World, c design.CellRef, before, next int) {
	c.PutSum(next, 5)
	c.Ready().Set(before, 1)
	c.PutSum(w.PE(), 5)
	c.Ready().Set(w.PE(), 1)
}

func loops(w *pgas.World, c design.CellRef) {
	for pe := range w.NPEs() {
		c.PutSum(pe, 5)
		c.Ready().Set(pe, 1) // want `SignalRef.Set may arrive before`
	}
	for pe := range w.NPEs() {
		c.Ready().Set(pe, 2) // want `SignalRef.Set may arrive before what CellRef.PutSum of line 46`
		c.PutSum(pe, 5)
	}
}

func plain(w *pgas.World, s pgas.Slice[int64], r pgas.Ref[int64], flag pgas.Short[uint16], src []int64, pe int) {
	s.PutNB(pe, src)
	flag.Put(pe, 1) // want `Short.Put may arrive before what Slice.PutNB`
	w.Fence()
	r.Put(pe, 5)
	w.Notify(pe, 3)         // want `World.Notify may arrive before what Ref.Put`
	s.PutNotify(pe, src, 3) // want `Slice.PutNotify announces its own data only`
}

// Count is waited for, and so it is a flag. Other words are counters.
func atomics(ctx context.Context, w *pgas.World, c design.CellRef, n pgas.Atomic[int64], pe int) error {
	c.PutSum(pe, 5)
	n.Add(pe, 1)
	c.IncCount(pe) // want `CellRef.IncCount may arrive before what CellRef.PutSum`
	_, err := c.WaitUntilCount(ctx, pgas.GE, 1)
	return err
}

func inAHelper(w *pgas.World, c design.CellRef, pe int) {
	c.PutSum(pe, 5)
	order(w)
	c.Ready().Set(pe, 1)
}

func order(w *pgas.World) { w.Fence() }
