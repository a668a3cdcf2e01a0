package coll

// Starting a non-blocking call.

import "context"

// Start runs call for a request. It must be called by the goroutine that has the turn.
func (g *Group) Start(ctx context.Context, call func(ctx context.Context) error) *Request {
	r := &Request{n: g.n, before: g.calls.last.Load(), over: make(chan struct{})}
	if g.n.Races != nil {
		r.site = g.n.Races.Here()
	}
	g.calls.last.Store(r)
	ctx = context.WithValue(ctx, requestKey{}, r)
	g.n.Spawn(func() {
		defer close(r.over)
		if r.before != nil {
			g.n.AwaitClosed(context.Background(), r.before.over)
			r.before = nil
		}
		r.err = call(ctx)
	})
	return r
}
