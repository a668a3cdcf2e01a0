package pgas

// Non-blocking collectives, for programs.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/coll"
)

// Request is a non-blocking collective under way.
type Request struct{ r *coll.Request }

// Wait blocks until the collective is complete here, as the blocking form is when it returns, and returns
// its error. When ctx ends first the collective goes on.
func (r *Request) Wait(ctx context.Context) error {
	r.made("Request.Wait")
	mustHaveContext("Request.Wait", ctx)
	return r.r.Wait(ctx)
}

// made panics with *UsageError if r is nil or zero.
func (r *Request) made(op string) {
	if r == nil || r.r == nil {
		misuse(op, "a nil or zero Request (no call has made it): use what a non-blocking collective has returned")
	}
}

// Test reports whether the collective is complete here, and its error if it is.
func (r *Request) Test() (bool, error) {
	r.made("Request.Test")
	return r.r.Test()
}

// start runs call for a Request. It must be called by the goroutine whose turn it is.
func (t *Team) start(ctx context.Context, call func(ctx context.Context) error) *Request {
	t.alive("non-blocking collective")
	mustHaveContext("non-blocking collective", ctx)
	return &Request{t.g.Start(ctx, call)}
}
