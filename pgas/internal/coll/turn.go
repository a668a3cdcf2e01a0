package coll

// How a call begins: it waits for its turn, and is refused if it must not run.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// takeTurn starts a collective of a team: it waits until earlier calls are over, and fails if this PE must not
// enter c. end must follow, unless takeTurn fails.
func (g *Group) takeTurn(ctx context.Context, c *Call) error {
	if g.n.Closed.Load() {
		return node.ErrClosed
	}
	if r := g.calls.last.Load(); r != nil && !r.IsOver() && !r.mine(ctx) {
		if err := g.n.AwaitClosed(ctx, r.over); err != nil {
			g.refuseLater(ctx, *c)
			return err
		}
	}
	if g.calls.busy.Swap(true) {
		g.misuse(c.title(), "team %s is in another collective: goroutines of a PE take turns, or use teams of their own", g.Name)
	}
	err := g.calls.failed
	if err == nil && ctx.Err() != nil {
		err = node.FirstError(g.n.PeerFailure(), g.refuseCall(ctx, c))
	}
	if err != nil {
		g.end()
		return err
	}
	g.calls.recorded = g.n.BeginCall(c.title(), g.calls.n+1, g.Slot, g.PEs[0])
	return nil
}

// refuseLater gives up call c when its turn comes: it is another call's still.
func (g *Group) refuseLater(ctx context.Context, c Call) {
	g.Start(ctx, func(ctx context.Context) error { return g.refuseCall(ctx, &c) })
}

// refuseCall makes call c fail for all members, because this PE's context had ended before it. It returns the
// cause.
func (g *Group) refuseCall(ctx context.Context, c *Call) error {
	if g.calls.failed != nil {
		return g.calls.failed
	}
	g.advance(c, 0)
	return g.abortCall(ctx)
}

// enter is a call in which this member has nothing to do, and waits for no member: the others learn of it when they ask
// for something else.
func (g *Group) enter(ctx context.Context, c *Call) error {
	e, err := g.begin(ctx, c, 0)
	if err != nil {
		return err
	}
	defer g.end()
	return g.arrive(e)
}

// begin begins a call: it waits for its turn, reserves an arrival record and k mailboxes (maxMailboxes at most;
// the same number on every member), and fills in the record, which markArrived publishes. end must follow,
// unless begin fails. Within the call there may be one barrier (barrierIn).
func (g *Group) begin(ctx context.Context, c *Call, k int) (*arrival, error) {
	if err := g.takeTurn(ctx, c); err != nil {
		return nil, err
	}
	if g.mustSync(k) {
		if g.advanceSynced(); g.mustSync(k) {
			if err := g.barrier(ctx, &Call{Kind: KindSync}); err != nil {
				g.end()
				return nil, err
			}
		}
	}
	return g.advance(c, k), nil
}
