package pgas

// Non-blocking collectives. The PE that starts one goes on at once; the call itself runs on a goroutine,
// which makes it progress whatever the PE does. The calls of a group still run one after another in the
// order in which they were made: each waits for the one before, and so do blocking calls.

import "context"

// request is a non-blocking collective under way.
type request struct {
	n      *Node
	before *request // the one that was made before it on this group, until that is over
	over   chan struct{}
	err    error // once over is closed
}

// wait blocks until the collective is complete on this PE, and returns its error, or the cause of ctx.
func (r *request) wait(ctx context.Context) error {
	if r.isOver() {
		return r.err
	}
	if err := r.n.awaitClosed(ctx, r.over); err != nil {
		return err
	}
	return r.err
}

// isOver reports whether r is complete on this PE.
func (r *request) isOver() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// test reports whether r is complete on this PE, and its error if it is.
func (r *request) test() (bool, error) {
	r.n.poll()
	if r.isOver() {
		return true, r.err
	}
	return false, nil
}

// requestKey marks the contexts of calls that run for a request.
type requestKey struct{}

// mine reports whether ctx is that of the call which runs for r, or for one that r waits for.
func (r *request) mine(ctx context.Context) bool { return ctx.Value(requestKey{}) != nil }

// start runs call for a request. It must be called by the goroutine whose turn it is.
func (g *Group) start(ctx context.Context, call func(ctx context.Context) error) *request {
	r := &request{n: g.n, before: g.turns.last.Load(), over: make(chan struct{})}
	g.turns.last.Store(r)
	ctx = context.WithValue(ctx, requestKey{}, r)
	g.n.spawn(func() {
		defer close(r.over)
		if r.before != nil {
			g.n.awaitClosed(context.Background(), r.before.over)
			r.before = nil
		}
		r.err = call(ctx)
	})
	return r
}
