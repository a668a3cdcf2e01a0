package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
	"github.com/gopgas/gopgas/samples/npb/parallel"
)

// goroutines makes the parts in goroutines of this process.
func goroutines(ctx context.Context, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	parts := make([]tally, c.parts())
	var t tally
	var took time.Duration
	err := parallel.Run(ctx, s.Goroutines, func(ctx context.Context, m parallel.Member) error {
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		start := time.Now()
		lo, hi := m.Share(c.parts())
		for i := lo; i < hi; i++ {
			parts[i] = c.part(i)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		if err := m.Barrier(ctx); err != nil {
			return err
		}
		if m.ID() == 0 {
			t = total(parts)
			took = time.Since(start)
		}
		return nil
	})
	return c.result(t, took), err
}
