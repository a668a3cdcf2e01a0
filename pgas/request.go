package pgas

// Non-blocking collectives. The PE that starts one goes on at once; the call itself runs on a goroutine,
// which makes it progress whatever the PE does. The calls of a team still run one after another in the
// order in which they were made: each waits for the one before, and so do blocking calls.

import "context"

// Request is a non-blocking collective under way.
type Request struct {
	w      *World
	before *Request // the one that was made before it on this team, until that is over
	over   chan struct{}
	err    error // once over is closed
}

// Wait blocks until the collective is complete here, as the blocking form is when it returns, and returns
// its error. When ctx ends first the collective goes on.
func (r *Request) Wait(ctx context.Context) error {
	r.made("Request.Wait")
	given("Request.Wait", ctx)
	select {
	case <-r.over:
		return r.err
	default:
	}
	if err := r.w.n.awaitClosed(ctx, r.over); err != nil {
		return err
	}
	return r.err
}

// made panics with *UsageError if r is nil or zero.
func (r *Request) made(op string) {
	if r == nil || r.over == nil {
		misuse(op, "a nil or zero Request (no call has made it): use what a non-blocking collective has returned")
	}
}

// isOver reports whether r is complete on this PE.
func (r *Request) isOver() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// Test reports whether the collective is complete here, and its error if it is.
func (r *Request) Test() (bool, error) {
	r.made("Request.Test")
	r.w.n.poll()
	select {
	case <-r.over:
		return true, r.err
	default:
		return false, nil
	}
}

// requestKey marks the contexts of calls that run for a Request.
type requestKey struct{}

// mine reports whether ctx is that of the call which runs for r, or for one that r waits for.
func (r *Request) mine(ctx context.Context) bool { return ctx.Value(requestKey{}) != nil }

// start runs call for a Request. It must be called by the goroutine whose turn it is.
func (t *Team) start(ctx context.Context, call func(ctx context.Context) error) *Request {
	t.alive("non-blocking collective")
	given("non-blocking collective", ctx)
	r := &Request{w: t.w, before: t.turns.last.Load(), over: make(chan struct{})}
	t.turns.last.Store(r)
	ctx = context.WithValue(ctx, requestKey{}, r)
	t.w.n.spawn(func() {
		defer close(r.over)
		if r.before != nil {
			t.w.n.awaitClosed(context.Background(), r.before.over)
			r.before = nil
		}
		r.err = call(ctx)
	})
	return r
}
