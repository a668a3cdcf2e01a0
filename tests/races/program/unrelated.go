package main

// Calls that wait for no other PE, and tell none anything. Each PE makes one, between its access and that of the other:
// they order nothing.

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

var unrelated = []scenario{
	alone("`context.WithCancel`", func(p *pe) func() {
		return func() { _, cancel := context.WithCancel(p.ctx); cancel() }
	}),
	alone("`World.WithTimeout`", func(p *pe) func() {
		return func() { _, cancel := p.WithTimeout(p.ctx, time.Hour); cancel() }
	}),
	alone("a group of `World.Go`", func(p *pe) func() {
		return func() { must(p.Go(p.ctx, func(context.Context) error { return nil }).Wait()) }
	}),
	alone("a wait of 100 ms for another goroutine's signal", func(p *pe) func() {
		return func() {
			g := p.Go(p.ctx, func(ctx context.Context) error {
				defer p.sig.Set(p.PE(), 1)
				return p.Sleep(ctx, 100*time.Millisecond)
			})
			got(p.sig.WaitUntil(p.ctx, pgas.EQ, 1))
			must(g.Wait())
		}
	}),
	alone("`World.Sleep`, `World.Yield`", func(p *pe) func() {
		return func() { must(p.Sleep(p.ctx, time.Millisecond)); p.Yield() }
	}),
	alone("a `Context` of its own", func(p *pe) func() {
		return func() {
			c := got(p.NewContext())
			p.data.At(1+p.PE()).On(c).Put(p.PE(), 1)
			must(c.Close())
		}
	}),
	alone("a `pgas.Lock` of its own", func(p *pe) func() {
		l := pgas.LockOf(got(pgas.Alloc[pgas.Lock](p.ctx, p.World, 2)), p.PE())
		return func() { must(l.Lock(p.ctx)); must(l.Unlock()) }
	}),
	alone("a notification to itself", func(p *pe) func() {
		return func() { p.Notify(p.PE(), 1); p.awaitNote(1) }
	}),
	alone("a barrier of a team of its own", func(p *pe) func() {
		t := got(p.Team().SplitColor(p.ctx, p.PE(), 0))
		return func() { must(t.Barrier(p.ctx)) }
	}),
	alone("`World.Stats`", func(p *pe) func() {
		return func() { p.Stats() }
	}),
}

// alone returns a scenario in which each of two PEs makes the call that prepare returns, the first after its put and
// the other before its get.
func alone(call string, prepare func(p *pe) func()) scenario {
	return scenario{first: "put, " + call, then: call + ", get", run: func(p *pe) (first, then func()) {
		f := prepare(p)
		return func() { p.word.Put(1, 1); f(); p.pass() },
			func() { p.await(); f(); p.word.Get(1) }
	}}
}
