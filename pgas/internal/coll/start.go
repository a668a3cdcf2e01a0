package coll

// Starting a non-blocking call.

import "context"

// Start runs call for a request. It must be called by the goroutine that has the turn.
func (g *Group) Start(ctx context.Context, call func(ctx context.Context) error) *Request {
	r := &Request{n: g.n, before: g.calls.last.Load(), over: make(chan struct{}), races: g.n.Races.Begin(g.Slot)}
	g.calls.last.Store(r)
	ctx = context.WithValue(ctx, requestKey{}, r)
	g.n.Spawn(func() {
		defer func() {
			g.calls.running.Store(nil)
			close(r.over)
		}()
		if r.before != nil {
			g.n.AwaitClosed(context.Background(), r.before.over)
			r.races.Follow(r.before.races)
			r.before = nil
		}
		g.calls.running.Store(r)
		r.err = call(ctx)
	})
	return r
}
