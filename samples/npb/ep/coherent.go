package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// coherent makes the parts in goroutines of all PEs.
func coherent(ctx context.Context, w *pgas.World, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	r, err := dsm.Open(ctx, w, dsm.Options{Bytes: uint64(c.parts()) * 12 * 8})
	if err != nil {
		return benchmark.Result{}, err
	}
	parts, err := dsm.Alloc[tally](ctx, r, c.parts())
	if err != nil {
		return benchmark.Result{}, err
	}
	var t tally
	var took time.Duration
	err = r.Run(ctx, s.Goroutines, func(ctx context.Context, m dsm.Member) error {
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		start := time.Now()
		lo, hi := m.Share(c.parts())
		for i := lo; i < hi; i++ {
			parts.Set(i, c.part(i))
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		if m.ID() == 0 {
			t = total(parts.View(0, c.parts()))
			took = time.Since(start)
		}
		return nil
	})
	if err != nil {
		return benchmark.Result{}, err
	}
	return c.result(t, took), r.Close(ctx)
}
