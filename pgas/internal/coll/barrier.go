package coll

// Meetings: nobody leaves before all have come. Three shapes, chosen by where the members are:
//
//	flags    all on one host, with a CPU for each PE: everyone leaves its entry and looks at all the
//	         others'; for two PEs that is a single trip of a cache line.
//	central  all on one host, with more PEs than CPUs: a counter; the last to arrive releases everybody.
//	         Few switches between processes matter then, not few cache misses.
//	hosts    on several hosts: the members of a host meet at their leader (its first member), the leaders
//	         disseminate in log2(hosts) rounds, and each leader releases its own.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/internal/callsite"
)

func (g *Group) Sync(ctx context.Context, k Kind, what string) error {
	c := Call{Kind: k}
	if err := g.takeTurn(ctx, c); err != nil {
		return fmt.Errorf("%s of team %s%s: %w", what, g.Name, callsite.At(), err)
	}
	err := g.barrier(ctx, c)
	if err != nil {
		err = fmt.Errorf("%s %d of team %s%s: %w", what, g.calls.n, g.Name, callsite.At(), err)
	}
	g.end()
	return err
}

// barrier is a call of its own in which all members meet.
func (g *Group) barrier(ctx context.Context, c Call) error {
	return g.barrierIn(ctx, g.advance(c, 0))
}

// barrierIn publishes e, the entry of the call under way, and returns when all members have entered it:
// theirs may then be read.
func (g *Group) barrierIn(ctx context.Context, e *arrival) error {
	var err error
	switch {
	case len(g.hosts) > 1:
		err = g.hierarchicalBarrier(ctx, e)
	case g.n.Dedicated:
		err = g.gatherLocal(ctx, &g.layout, e)
	default:
		err = g.centralBarrier(ctx, e)
	}
	if err == nil {
		g.noteAllArrived()
	}
	return err
}

func (g *Group) centralBarrier(ctx context.Context, e *arrival) error {
	if err := g.markArrived(e); err != nil {
		return err
	}
	c := g.local[0].syncWords()
	if c.arrived.Add(1) < uint64(len(g.local)) {
		return g.awaitTag(ctx, &c.released, g.localMembers[0])
	}
	c.arrived.Store(0)
	if err := g.sameTags(); err != nil {
		return err
	}
	c.released.Store(g.calls.tag)
	g.wakeLocal()
	return nil
}

// sameTags checks the entries of all members of this host, who have all arrived.
func (g *Group) sameTags() error {
	for _, b := range g.local {
		if b.arrival(g.calls.n).tag.Load() != g.calls.tag {
			return g.diverged()
		}
	}
	return nil
}

func (g *Group) hierarchicalBarrier(ctx context.Context, e *arrival) error {
	if !g.isLeader() {
		if err := g.arrive(e); err != nil {
			return err
		}
		return g.awaitRelease(ctx, &g.layout)
	}
	if err := g.gatherLocal(ctx, &g.layout, e); err != nil {
		return err
	}
	g.mergeLocal()
	if err := g.disseminate(ctx); err != nil {
		return err
	}
	g.publishResult(e)
	g.release(&g.layout)
	return nil
}

// disseminate is the meeting of the leaders: in round k each tells the leader 2^k hosts on, and waits for
// the one 2^k hosts back.
func (g *Group) disseminate(ctx context.Context) error {
	n, me := len(g.hosts), g.hostIndex
	for k, step := 0, 1; step < n; k, step = k+1, 2*step {
		to, from := g.hosts[(me+step)%n][0], g.hosts[(me-step+n)%n][0]
		x := g.calls.syncMailboxes + mailbox(k)
		g.send(to, x, g.calls.digests.message())
		if err := g.awaitMailbox(ctx, x, from); err != nil {
			return err
		}
		g.mergeRemote(x)
	}
	return nil
}

// gatherLocal publishes e and waits until all members of this host have entered the call.
func (g *Group) gatherLocal(ctx context.Context, l *layout, e *arrival) error {
	if err := g.arrive(e); err != nil {
		return err
	}
	for k := range l.local {
		if _, err := g.awaitArrival(ctx, l, k); err != nil {
			return err
		}
	}
	return nil
}
