package pgas

// Non-blocking collectives, for programs.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/coll"
)

// Request is a non-blocking collective under way. It makes progress whether or not the program calls into the
// library. The collectives of a team, blocking or not, still run one after another in the order of their calls. The
// methods may be called by any number of goroutines, and panic with *UsageError if the Request is nil or zero.
type Request struct{ r *coll.Request }

// Wait blocks until the collective is complete on this PE, to the same extent as its blocking form when that returns,
// and returns its error. If ctx ends first, it returns the cause of ctx, and the collective goes on.
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

// Test reports, without waiting, whether the collective is complete on this PE, and its error if it is.
func (r *Request) Test() (bool, error) {
	r.made("Request.Test")
	return r.r.Test()
}

// start runs call for a Request, after the earlier calls of t. The goroutine that has the turn in t must call it. d and
// s are what the call accesses.
func (t *Team) start(ctx context.Context, d, s coll.Range, call func(ctx context.Context) error) *Request {
	t.alive("non-blocking collective")
	mustHaveContext("non-blocking collective", ctx)
	r := t.g.Start(ctx, call)
	if k := t.w.check; k != nil && t != t.w.team { // the collectives of World.Team end before a Free does
		k.requests.Add(r.IsOver, k.Live(uint64(d.Off)), k.Live(uint64(s.Off)))
	}
	return &Request{r}
}
