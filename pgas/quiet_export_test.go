package pgas

// What tests of Quiet must make happen: the context that Main gives to a body, its end, and an error that a fence
// leaves.

import "context"

// BodyContext returns a context as Main gives it to the body, and a function that ends it.
func BodyContext() (context.Context, context.CancelCauseFunc) {
	inner, cancel := context.WithCancelCause(context.Background())
	ctx := &bodyContext{Context: inner}
	return ctx, func(cause error) {
		ctx.ended.Store(true)
		cancel(cause)
	}
}

// LeaveError leaves an error for the quiets of c.
func LeaveError(c *Context, err error) { c.leaveError(err, false) }
