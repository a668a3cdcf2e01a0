// Package counts has signals that count the chunks of one sender, of several, and of all.
package counts

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/nested"
	"github.com/gopgas/gopgas/pgas"
)

var five = 5.0

func ofAll(ctx context.Context, w *pgas.World, inbox pgas.Sym[float64], come pgas.Sym[pgas.Signal]) (sum float64, err error) {
	inbox.At(w.PE()).PutSignalAdd(0, &five, pgas.SignalOf(come, 0), 1)
	if w.PE() == 0 {
		for k := range w.NPEs() {
			if _, err := pgas.SignalOf(come, 0).WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil { // want `the signal counts what several PEs add by Ref.PutSignalAdd of line 16, not whose data has come, and line 22 reads a chunk after each: take a signal for each sender, or wait for all before the first read`
				return 0, err
			}
			sum += *inbox.At(k).Local()
		}
	}
	return sum, nil
}

func ofAllButOne(ctx context.Context, w *pgas.World, inbox pgas.Sym[float64], c design.CellRef) (sum float64, err error) {
	if w.PE() != 0 {
		inbox.At(w.PE()).Put(0, 5)
		w.Fence()
		c.Ready().Add(0, 1)
		return 0, nil
	}
	mine := inbox.Local()
	for k := 1; k < len(mine); k++ {
		if _, err := c.Ready().WaitUntil(ctx, pgas.GE, uint64(k)); err != nil { // want `the signal counts what several PEs add by SignalRef.Add of line 32`
			return 0, err
		}
		sum += mine[k]
	}
	return sum, nil
}

func toAll(ctx context.Context, w *pgas.World, inbox pgas.Sym[float64], c design.CellRef, src []float64, use func([]float64)) error {
	me, npes, n := w.PE(), w.NPEs(), len(src)
	for phase := 1; phase < npes; phase++ {
		inbox.Range(me*n, (me+1)*n).PutSignalAdd((me+phase)%npes, src, c.Ready(), 1)
	}
	mine := inbox.Local()
	before := 7
	for from := range npes - 1 {
		if _, err := c.Ready().WaitUntil(ctx, pgas.GT, uint64(before+from)); err != nil { // want `the signal counts what several PEs add by Slice.PutSignalAdd`
			return err
		}
		use(mine[from*n : (from+1)*n])
	}
	return nil
}

func counted(ctx context.Context, w *pgas.World, cells design.CellSym, come pgas.SignalRef, got uint64) (sum float64, err error) {
	for pe := range w.NPEs() {
		if pe == w.PE() {
			continue
		}
		cells.At(w.PE()).PutSumSignalAdd(pe, 5, come, 1)
	}
	for k := range w.NPEs() - 1 {
		got++
		if _, err := come.WaitUntil(ctx, pgas.GE, got); err != nil { // want `the signal counts what several PEs add by CellRef.PutSumSignalAdd`
			return 0, err
		}
		sum += cells.At(k).Local().Sum
	}
	return sum, nil
}

// The total says that all have come, whether in one wait or in a loop.
func total(ctx context.Context, w *pgas.World, inbox pgas.Sym[float64], come pgas.SignalRef, src []float64) (sum float64, err error) {
	npes := w.NPEs()
	for round := range 3 {
		inbox.At(w.PE()).PutSignalAdd(0, &five, come, 1)
		if w.PE() == 0 {
			if _, err := come.WaitUntil(ctx, pgas.GE, uint64((round+1)*npes)); err != nil {
				return 0, err
			}
			sum += inbox.Local()[round]
		}
	}
	for k := range npes {
		if _, err := come.WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
			return 0, err
		}
		fmt.Println(k, "have come")
	}
	for k := range npes {
		sum += *inbox.At(k).Local()
	}
	return sum, nil
}

// One sender: only one PE adds, or each PE adds for one neighbour.
func oneSender(ctx context.Context, w *pgas.World, inbox pgas.Sym[float64], c design.CellRef, sends bool) (sum float64, err error) {
	come := c.Ready()
	for k := range 8 {
		if w.PE() == 1 {
			inbox.At(k).PutSignalAdd(0, &five, come, 1)
		}
		if sends {
			inbox.At(k).PutSignalAdd(0, &five, come, 1)
		}
		inbox.At(k).PutSignalAdd((w.PE()+1)%w.NPEs(), &five, come, 1)
	}
	if w.PE() == 2 {
		for pe := range w.NPEs() {
			inbox.At(0).PutSignalAdd(pe, &five, come, 1)
		}
	}
	for k := range 8 {
		if _, err := come.WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	return sum, nil
}

// A signal for each sender, at an index of its own.
func oneEach(ctx context.Context, w *pgas.World, inbox pgas.Sym[float64], come pgas.Sym[pgas.Signal], cells design.CellSym) (sum float64, err error) {
	for k := range 4 {
		inbox.At(4*w.PE()+k).PutSignalAdd(0, &five, pgas.SignalOf(come, w.PE()), 1)
		cells.At(w.PE()).Ready().Add(0, 1)
	}
	for from := range w.NPEs() {
		for k := range 4 {
			if _, err := pgas.SignalOf(come, from).WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
				return 0, err
			}
			if _, err := cells.At(from).Ready().WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
				return 0, err
			}
			sum += *inbox.At(4*from + k).Local()
		}
	}
	return sum, nil
}

// A signal for each sender, in a slice, and one for each neighbour to which this PE sends.
func chosen(ctx context.Context, w *pgas.World, inbox pgas.Sym[float64], signals []pgas.SignalRef, come pgas.SignalRef) (sum float64, err error) {
	me := w.PE()
	for k := range 4 {
		inbox.At(me).PutSignalAdd(0, &five, signals[me], 1)
		inbox.At(k).PutSignalAdd((me+1+k%2)%w.NPEs(), &five, come, 1)
	}
	for k := range 4 {
		if _, err := signals[me].WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	for k := range 4 {
		if _, err := come.WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	return sum, nil
}

// A signal for each sender, by its number or another index, and the total of each round.
func rounds(ctx context.Context, w *pgas.World, inbox pgas.Sym[float64], signals pgas.Sym[pgas.Signal], come pgas.SignalRef, slot int) (sum float64, err error) {
	me, npes := w.PE(), w.NPEs()
	inbox.At(me).PutSignalAdd(0, &five, pgas.SignalOf(signals, me), 1)
	for k := range 4 {
		if _, err := pgas.SignalOf(signals, me).WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	inbox.At(me).PutSignalAdd(0, &five, pgas.SignalOf(signals, slot), 1)
	for k := range 4 {
		if _, err := pgas.SignalOf(signals, slot).WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	for all := npes; all < 4*npes; all += npes {
		inbox.At(me).PutSignalAdd(0, &five, come, 1)
		if _, err := come.WaitUntil(ctx, pgas.GE, uint64(all)); err != nil {
			return 0, err
		}
		sum += *inbox.At(all - 1).Local()
	}
	return sum, nil
}

// A bit of a signal for each sender, and waits that count nothing.
func flags(ctx context.Context, w *pgas.World, inbox pgas.Sym[float64], bits, come pgas.SignalRef) (sum float64, err error) {
	inbox.At(w.PE()).PutSignalAdd(0, &five, bits, 1<<w.PE())
	inbox.At(w.PE()).PutSignalAdd(0, &five, come, 1)
	for k := range 4 {
		if _, err := bits.WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	for k := range 4 {
		if _, err := come.WaitUntil(ctx, pgas.NE, uint64(k+1)); err != nil {
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	return sum, nil
}

// An array of signals: one element counts several senders, and the others one each.
func elements(ctx context.Context, w *pgas.World, inbox pgas.Sym[float64], t nested.TableRef) (sum float64, err error) {
	me := w.PE()
	inbox.At(me).PutSignalAdd(0, &five, t.Arrived(0, 1), 1)
	inbox.At(me).PutSignalAdd(0, &five, t.Arrived(1, me), 1)
	for k := range 2 {
		if _, err := t.Arrived(0, 0).WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	for k := range 2 {
		if _, err := t.Arrived(0, 1).WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil { // want `the signal counts what several PEs add`
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	for k := range 2 {
		if _, err := t.Arrived(1, me).WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	return sum, nil
}

// Other data than that of the senders, and a barrier that all come to before the read.
func otherwise(ctx context.Context, w *pgas.World, inbox, other pgas.Sym[float64], come pgas.SignalRef) (sum float64, err error) {
	for k := range 4 {
		inbox.At(w.PE()).PutSignalAdd(0, &five, come, 1)
		if _, err := come.WaitUntil(ctx, pgas.GE, uint64(k+1)); err != nil {
			return 0, err
		}
		sum += *other.At(k).Local()
		if err := w.Barrier(ctx); err != nil {
			return 0, err
		}
		sum += *inbox.At(k).Local()
	}
	return sum, nil
}
