package coll

// Non-blocking collectives. The PE that starts one goes on at once; the call itself runs on a goroutine,
// which makes it progress whatever the PE does. The calls of a group still run one after another in the
// order in which they were made: each waits for the one before, and so do blocking calls.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// A Request is a non-blocking collective under way.
type Request struct {
	n      *node.Node
	before *Request // the group's request before this one, until that request is over
	over   chan struct{}
	races  *racecheck.Request // what the detector of races knows of it; nil: there is none
	err    error              // the result, once over is closed
}

// Wait blocks until the collective is complete on this PE, and returns its error, or the cause of ctx.
func (r *Request) Wait(ctx context.Context) error {
	r.n.Learn()
	if r.seenOver() {
		return r.err
	}
	if err := r.n.AwaitClosed(ctx, r.over); err != nil {
		return err
	}
	r.races.Over()
	return r.err
}

// IsOver reports whether r is complete on this PE.
func (r *Request) IsOver() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// seenOver is IsOver for a program that goes on by the result.
func (r *Request) seenOver() bool {
	if !r.IsOver() {
		return false
	}
	r.races.Over()
	return true
}

// Test reports whether r is complete on this PE, and its error if it is.
func (r *Request) Test() (bool, error) {
	r.n.YieldIfScheduled()
	r.n.Learn()
	if r.seenOver() {
		return true, r.err
	}
	return false, nil
}

// requestKey marks the contexts of calls that run for a request.
type requestKey struct{}

// mine reports whether ctx is that of the call which runs for r, or for one that r waits for.
func (r *Request) mine(ctx context.Context) bool { return ctx.Value(requestKey{}) != nil }
