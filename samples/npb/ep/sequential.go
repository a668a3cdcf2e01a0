package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// sequential makes the parts one after another.
func sequential(ctx context.Context, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	parts := make([]tally, c.parts())
	start := time.Now()
	for i := range parts {
		parts[i] = c.part(i)
		if ctx.Err() != nil {
			return benchmark.Result{}, context.Cause(ctx)
		}
	}
	t := total(parts)
	return c.result(t, time.Since(start)), nil
}
