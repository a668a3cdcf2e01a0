package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// sequential ranks in one goroutine. A first ranking is not timed, and its ranks are not looked at.
func sequential(ctx context.Context, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	keys, counts := make([]int32, c.n), make([]int32, c.max)
	c.generate(keys, 0)
	rank := func(ranking int) {
		c.change(keys, 0, ranking)
		count(counts, keys)
		accumulate(counts, 0)
	}
	rank(1)
	var o outcome
	start := time.Now()
	for ranking := 1; ranking <= rankings; ranking++ {
		rank(ranking)
		o.right += c.right(ranking, func(at int) int32 { return keys[at] }, func(v int) int32 { return counts[v] })
		if ctx.Err() != nil {
			return benchmark.Result{}, context.Cause(ctx)
		}
	}
	o.took = time.Since(start)
	sorted := make([]int32, c.n)
	o.ordered = place(sorted, 0, keys, counts, 0) - descents(sorted)
	return c.result(o), nil
}
