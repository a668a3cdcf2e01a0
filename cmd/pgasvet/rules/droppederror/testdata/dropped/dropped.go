// Package dropped has errors of collectives and waits that are dropped, and others that are not.
package dropped

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/arena"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/progress"
)

func statements(ctx context.Context, w *pgas.World, c design.CellRef, s pgas.Slice[int64]) error {
	w.Barrier(ctx)                       // want `the error of World.Barrier is dropped: .*; return it`
	c.Ready().WaitUntil(ctx, pgas.GE, 1) // want `the error of SignalRef.WaitUntil is dropped`
	c.WaitUntilCount(ctx, pgas.EQ, 1)    // want `the error of CellRef.WaitUntilCount is dropped`
	pgas.SumReduce(ctx, w.Team(), s, s)  // want `the error of pgas.SumReduce is dropped`
	if n, err := pgas.Collect(ctx, w.Team(), s, s); err == nil && n > 0 {
		w.Quiet(ctx) // want `the error of World.Quiet is dropped`
	}
	return w.Sync(ctx)
}

func nothingToReturn(ctx context.Context, w *pgas.World) {
	w.Barrier(ctx) // want `the error of World.Barrier is dropped`
	defer func() { w.Fence() }()
}

func deferred(ctx context.Context, w *pgas.World, cells design.CellSym) {
	defer cells.Free(ctx) // want `the error of CellSym.Free is dropped`
	go w.Quiet(ctx)       // want `the error of World.Quiet is dropped`
}

func blanks(ctx context.Context, w *pgas.World, a pgas.Atomic[int64]) int64 {
	_ = w.Barrier(ctx)
	v, _ := a.WaitUntil(ctx, pgas.GE, 1) // want `the error of Atomic.WaitUntil is dropped`
	return v
}

func overwritten(ctx context.Context, w *pgas.World) error {
	err := w.Barrier(ctx) // want `the error of World.Barrier is dropped`
	err = w.Quiet(ctx)
	return err
}

func requests(ctx context.Context, w *pgas.World, s pgas.Slice[int64]) error {
	pgas.BroadcastNB(ctx, w.Team(), s, s, 0) // want `the Request of pgas.BroadcastNB is dropped`
	r := pgas.BroadcastNB(ctx, w.Team(), s, s, 0)
	return r.Wait(ctx)
}

func others(ctx context.Context, l locks.Lock, m *dsm.Mutex, r *notify.Request, c pgas.LocalCompletion) {
	l.Lock(ctx) // want `the error of Lock.Lock is dropped`
	m.Lock(ctx) // want `the error of Mutex.Lock is dropped`
	r.Wait(ctx) // want `the error of Request.Wait is dropped`
	c.Wait(ctx) // want `the error of LocalCompletion.Wait is dropped`
}

func used(ctx context.Context, w *pgas.World, c design.CellRef) (err error) {
	defer w.Close()
	defer func() { err = w.Barrier(ctx) }()
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	_, err = c.Ready().WaitUntil(ctx, pgas.GE, 1)
	if err != nil {
		return fmt.Errorf("waiting: %w", err)
	}
	w.Barrier(ctx) //pgasvet:ok the next call waits for the same PEs
	//pgasvet:ok and so does this one
	w.Barrier(ctx)
	return w.Quiet(ctx)
}

type own struct{}

func (own) Barrier(context.Context) error { return nil }

func notOurs(ctx context.Context) { own{}.Barrier(ctx) }

func values(ctx context.Context, w *pgas.World, m *containers.Map[string, int], a *arena.Arena) error {
	sum, _ := pgas.SumValue(ctx, w.Team(), 1) // want `the error of pgas.SumValue is dropped`
	fmt.Println(sum)
	m.Set(ctx, "a", 1)            // want `the error of Map.Set is dropped`
	n, _ := m.Len(ctx)            // want `the error of Map.Len is dropped`
	for _, v := range m.Local() { // no error
		n += v
	}
	fmt.Println(n)
	p, err := progress.New(ctx, w, "rows", n)
	if err != nil {
		return err
	}
	p.Add(1)
	p.End(ctx) // want `the error of Progress.End is dropped`
	return a.Close(ctx)
}
