package pgas

// What package ckpt needs to save the state of a job: a moment at which nothing is under way, and the request to stop.

import (
	"context"
	"math"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// settle completes the operations and the non-blocking collectives of all PEs, so that their state can be saved, and
// returns the bitwise or of the words that PEs give. It is collective. It panics with *UsageError if the PE holds a
// lock, or has a notification that nobody has waited for: neither would be a part of that state.
func (w *World) settle(ctx context.Context, op string, word uint64) (all uint64, err error) {
	w.mustHoldNone(op, 0, math.MaxUint64)
	if err := node.FirstError(w.groups.Wait(ctx), w.completeAll(ctx)); err != nil {
		return 0, err
	}
	if all, err = w.syncOr(ctx, word); err != nil {
		return 0, err
	}
	if left := w.n.Notes.Unreceived(); len(left) > 0 {
		n := left[0]
		misuse(op, "nobody has waited for %s that have arrived, such as the one from PE %d with tag %d: a later job would not have them; "+
			"wait for each with a notify.Request before", plural.Count(len(left), "notification"), n.Source(), n.Tag())
	}
	return all, nil
}

// stopLater has a first SIGTERM to a program of Main not end the context of its body. asked reports whether it has
// come. Where the launcher ends the PEs for a reason of its own, SIGTERM ends the context as before.
func (w *World) stopLater() (asked func() bool) {
	if w.body == nil {
		return func() bool { return false }
	}
	later := func() bool { return !w.n.Job.EndRequested() && w.n.PeerFailure() == nil }
	w.body.stopLater.Store(&later)
	return w.body.stopAsked.Load
}

// mustBegin panics with *UsageError if ctx is nil, or if on, a *World or a *Team, may not be used.
func mustBegin(op string, ctx context.Context, on any) {
	switch on := on.(type) {
	case *World:
		on.mustBeOpen(op)
	case *Team:
		on.alive(op)
	}
	mustHaveContext(op, ctx)
}

// opened returns the *World that a hook was given. It panics with *UsageError if that is nil or zero.
func opened(world any, op string) *World {
	w := world.(*World)
	w.mustBeOpen(op)
	return w
}
