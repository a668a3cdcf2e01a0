// Package words has plain accesses to words that PEs update atomically, at the same time and at other times.
package words

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/pgas"
)

func loadAfterUpdate(ctx context.Context, w *pgas.World, cells design.CellSym) error {
	c := cells.At(0)
	c.IncCount(0)
	fmt.Println(c.Local().Count) // want `plain load of a word that PEs access by CellRef.IncCount, with no barrier or wait between: .*; use Fetch of this PE's own copy, or a barrier`
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	fmt.Println(c.Local().Count)
	return nil
}

// Time that passes orders nothing.
func sleeps(ctx context.Context, w *pgas.World, c design.CellRef) error {
	c.IncCount(0)
	time.Sleep(time.Millisecond)
	w.Yield()
	err := w.Sleep(ctx, time.Millisecond)
	fmt.Println(c.Local().Count) // want `plain load of a word`
	return err
}

func storeBeforeUpdate(w *pgas.World, cells design.CellSym, next int) {
	c := cells.At(0)
	c.Local().Count = 5 // want `plain store of a word that PEs access by CellRef.AddCount, .*; use Set of this PE's own copy`
	c.AddCount(next, 1)
}

func initialized(ctx context.Context, w *pgas.World, cells design.CellSym, next int) error {
	c := cells.At(0)
	c.Local().Count = 5
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	c.AddCount(next, 1)
	return w.Barrier(ctx)
}

func otherFields(w *pgas.World, cells design.CellSym, next int) {
	c := cells.At(0)
	c.IncCount(next)
	c.Local().Sum = 5
	fmt.Println(c.FetchCount(next), c.Local().Halo[0][0])
}

func otherElements(w *pgas.World, cells design.CellSym, next int) {
	cells.At(0).IncCount(next)
	cells.At(1).Local().Count = 5
	cells.Local()[2].Count = 7
	cells.Local()[0].Count++ // want `plain load of a word` `plain store of a word`
}

func ownCopyOnly(w *pgas.World, c design.CellRef) {
	c.SetCount(w.PE(), 5)
	fmt.Println(c.Local().Count)
}

func wholeRecords(w *pgas.World, cells design.CellSym, pe int) (sum int64) {
	for i := range cells.Len() {
		cells.At(i).AddCount(pe, 1)
	}
	for _, c := range cells.Local() { // want `plain load of a word`
		sum += c.Count
	}
	for _, c := range cells.Local() {
		sum += int64(c.Sum)
	}
	return sum
}

func throughPtr(c design.CellRef, pe int) {
	c.Count().FetchAdd(pe, 1)
	if p := c.Ref().Ptr(pe); p != nil {
		p.Count = 0 // want `plain store of a word`
		atomic.StoreInt64(&p.Count, 0)
	}
}

func bareWords(ctx context.Context, w *pgas.World, mem pgas.Sym[int64], pe int) int64 {
	n := pgas.AtomicOf(mem, 3)
	n.Add(pe, 1)
	if mem.Local()[4] == 0 {
		return mem.Local()[3] // want `plain load of a word that PEs access by Atomic.Add`
	}
	return n.Fetch(w.PE())
}

func inALoop(ctx context.Context, w *pgas.World, c design.CellRef, pe int) error {
	for range 10 {
		c.Local().Count = 0 // want `plain store of a word`
		c.IncCount(pe)
	}
	for range 10 {
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		c.Local().Count = 0
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		c.IncCount(pe)
	}
	return nil
}

func conditionsThatBelongTogether(ctx context.Context, w *pgas.World, c design.CellRef, pe int) (int64, error) {
	c.IncCount(pe)
	if w.PE() == 0 {
		if err := w.Barrier(ctx); err != nil {
			return 0, err
		}
	}
	if w.PE() == 0 {
		return c.Local().Count, nil
	}
	return 0, w.Barrier(ctx)
}

func inAHelper(ctx context.Context, w *pgas.World, c design.CellRef, pe int) (int64, error) {
	c.IncCount(pe)
	if err := together(ctx, w); err != nil {
		return 0, err
	}
	return c.Local().Count, nil
}

func together(ctx context.Context, w *pgas.World) error { return w.Barrier(ctx) }

func getsAndPolls(ctx context.Context, w *pgas.World, s pgas.Sym[int64], next int) error {
	word := pgas.AtomicOf(s, 0)
	word.Inc(next)
	_ = s.At(0).Get(next)       // want `Ref.Get of a word that PEs access by Atomic.Inc, with no barrier or wait between`
	for *s.At(1).Local() == 0 { // want `a loop that waits for a plain word of symmetric memory: the store of another PE may never be seen, and orders nothing; use an Atomic or a Signal, and WaitUntil`
		w.Yield()
	}
	s.At(0).Put(next, 1) // want `Ref.Put of a word that PEs access` `Ref.Put of a word that other PEs wait for by Atomic.WaitUntil: a plain put is no flag; use Set of an Atomic, or a Signal`
	_, err := word.WaitUntil(ctx, pgas.EQ, 1)
	return err
}
