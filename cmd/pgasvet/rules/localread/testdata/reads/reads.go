// Package reads has reads of a PE's own copy that do not wait for the puts of others, and others that do.
package reads

import (
	"context"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/locks"
	paper "github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

func noBarrier(ctx context.Context, w *pgas.World, cells design.CellSym) error {
	c := cells.At(0)
	next := (w.PE() + 1) % w.NPEs()
	c.PutSum(next, 5)
	fmt.Println(c.Local().Sum) // want `read of this PE's own copy of what CellRef.PutSum of line 18 puts to other PEs, which put here at the same time: call Barrier, or wait for a signal of the put, before`
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	fmt.Println(c.GetSum(w.PE())) // want `read of this PE's own copy of what CellRef.PutSum`
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	fmt.Println(c.Local().Sum, c.GetSum(w.PE()))
	return nil
}

func signals(ctx context.Context, w *pgas.World, c design.CellRef, next int) error {
	c.PutSumSignal(next, 5, c.Ready(), 1)
	if _, err := c.Ready().WaitUntil(ctx, pgas.GE, 1); err != nil {
		return err
	}
	fmt.Println(c.Local().Sum)
	c.PutSumSignal(next, 5, c.Ready(), 2)
	for !c.Ready().Test(pgas.GE, 2) {
	}
	fmt.Println(c.Local().Sum)
	c.PutSumSignal(next, 5, c.Ready(), 3)
	fmt.Println(c.Local().Sum) // want `read of this PE's own copy of what CellRef.PutSumSignal`
	return nil
}

// Time that passes orders nothing.
func sleeps(ctx context.Context, w *pgas.World, c design.CellRef, next int) {
	c.PutSum(next, 5)
	time.Sleep(time.Millisecond)
	if w.Sleep(ctx, time.Millisecond) == nil {
		w.Yield()
		fmt.Println(c.Local().Sum) // want `read of this PE's own copy of what CellRef.PutSum`
	}
}

func otherMemory(w *pgas.World, cells design.CellSym, next int) {
	cells.At(0).PutSum(next, 5)
	fmt.Println(cells.At(1).Local().Sum, cells.At(0).Local().Halo[0][0], cells.Local()[2].Sum)
	cells.At(0).PutSum(w.PE(), 6)
	fmt.Println(cells.At(0).Local().Sum) // want `read of this PE's own copy`
}

func ownCopy(w *pgas.World, c design.CellRef) {
	c.PutSum(w.PE(), 5)
	fmt.Println(c.Local().Sum)
}

// Each PE puts to the element of its number: what it reads of that is its own.
func exchange(w *pgas.World, s pgas.Sym[int64]) (sum int64) {
	me := w.PE()
	for pe := range w.NPEs() {
		s.At(me).Put(pe, 5)
	}
	fmt.Println(s.Local()[me])
	for i := range s.Len() {
		sum += s.Local()[i] // want `read of this PE's own copy of what Ref.Put`
	}
	for _, v := range s.Local() {
		sum += v // want `read of this PE's own copy of what Ref.Put`
	}
	return sum
}

func halves(ctx context.Context, w *pgas.World, s pgas.Sym[int64], src []int64, next int) error {
	mine := s.Local()
	for i := range 10 {
		half := i % 2
		s.At(half).Put(next, 5)
		fmt.Println(mine[1-half])
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

func locked(ctx context.Context, w *pgas.World, a locks.AccountRef, next int) error {
	a.PutBalance(next, 5)
	if err := a.Guard().Lock(ctx); err != nil {
		return err
	}
	fmt.Println(a.Local().Balance)
	return a.Guard().Unlock()
}

func conditionsThatBelongTogether(ctx context.Context, w *pgas.World, c design.CellRef, next int) error {
	for lap := range uint64(10) {
		if w.PE() != 0 {
			if _, err := c.Ready().WaitUntil(ctx, pgas.GE, lap); err != nil {
				return err
			}
		}
		c.PutSumSignal(next, c.Local().Sum, c.Ready(), lap)
		if w.PE() == 0 {
			if _, err := c.Ready().WaitUntil(ctx, pgas.GE, lap); err != nil {
				return err
			}
		}
		fmt.Println(c.Local().Sum)
	}
	return nil
}

func inAHelper(ctx context.Context, w *pgas.World, c design.CellRef, next int) error {
	c.PutSum(next, 5)
	if err := together(ctx, w); err != nil {
		return err
	}
	fmt.Println(c.Local().Sum)
	return nil
}

func together(ctx context.Context, w *pgas.World) error { return w.Barrier(ctx) }

func copied(s pgas.Slice[int64], src, dst []int64, next int) {
	s.Put(next, src)
	copy(dst, s.Local()) // want `read of this PE's own copy of what Slice.Put`
}

func storesAndGets(ctx context.Context, w *pgas.World, c design.CellRef, next int) error {
	c.Local().Sum = 5
	fmt.Println(c.GetSum(next)) // want `get of what the other PE stores to its own copy at the same time, as this one does in line [0-9]+: call Barrier between`
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	fmt.Println(c.GetSum(next))
	return nil
}

func sides(ctx context.Context, w *pgas.World, c design.CellRef) error {
	if w.PE() == 0 {
		c.PutSum(1, 5)
	} else {
		fmt.Println(c.Local().Sum) // want `read of this PE's own copy of what CellRef.PutSum of line [0-9]+ puts to other PEs`
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == 0 {
		c.PutSumSignal(1, 5, c.Ready(), 1)
	} else if _, err := c.Ready().WaitUntil(ctx, pgas.GE, 1); err != nil {
		return err
	} else {
		fmt.Println(c.Local().Sum)
	}
	return nil
}

func sidesOfReaders(ctx context.Context, w *pgas.World, l paper.RWLock, a locks.AccountRef) error {
	if err := l.RLock(ctx); err != nil {
		return err
	}
	if w.PE() == 0 {
		a.PutBalance(1, 5)
	} else {
		fmt.Println(a.Local().Balance) // want `read of this PE's own copy of what AccountRef.PutBalance of line [0-9]+ puts to other PEs`
	}
	l.RUnlock()
	return nil
}

func sidesOfReadersUnderALock(ctx context.Context, w *pgas.World, l paper.RWLock, a locks.AccountRef) error {
	if err := a.Guard().Lock(ctx); err != nil {
		return err
	}
	if err := l.RLock(ctx); err != nil {
		return err
	}
	if w.PE() == 0 {
		a.PutBalance(1, 5)
	} else {
		fmt.Println(a.Local().Balance)
	}
	l.RUnlock()
	return a.Guard().Unlock()
}

func sidesUnderALock(ctx context.Context, w *pgas.World, a locks.AccountRef) error {
	if err := a.Guard().Lock(ctx); err != nil {
		return err
	}
	if w.PE() == 0 {
		a.PutBalance(1, a.GetBalance(1)+1)
	} else {
		a.Local().Balance++
	}
	if err := a.Guard().Unlock(); err != nil {
		return err
	}
	if w.PE() == 0 {
		a.PutBalance(1, 5)
	} else {
		fmt.Println(a.Local().Balance) // want `read of this PE's own copy of what AccountRef.PutBalance of line [0-9]+ puts to other PEs`
	}
	return nil
}
