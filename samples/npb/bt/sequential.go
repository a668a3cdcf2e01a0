package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// sequential solves the equations in one goroutine.
func sequential(ctx context.Context, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	states, changes := make([]state, c.size()), make([]state, c.size())
	k := newWork(c, 0, c.n, 0, c.n)
	k.run(ctx, states, changes, 1) // not timed: it touches all memory
	start := time.Now()
	if err := k.run(ctx, states, changes, c.steps); err != nil {
		return benchmark.Result{}, err
	}
	took := time.Since(start)
	k.takeAll(states)
	k.residual(changes)
	return c.result(k.sums(changes, states), took), nil
}

// run makes so many steps from the initial values. It returns the cause of ctx's end if that is first.
func (k *work) run(ctx context.Context, states, changes []state, steps int) error {
	for y := range k.n {
		k.start(states[y*k.plane():(y+1)*k.plane()], y)
	}
	for range steps {
		k.takeAll(states)
		k.residual(changes)
		k.sweep(changes)
		for z := range k.n {
			k.put(changes[z*k.plane():(z+1)*k.plane()], z)
		}
		k.finish(states)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// takeAll takes all columns.
func (k *work) takeAll(states []state) {
	for y := range k.n {
		k.take(states[y*k.plane():(y+1)*k.plane()], y)
	}
}
