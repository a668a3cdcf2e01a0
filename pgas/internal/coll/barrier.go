package coll

// Barriers: no member leaves before all have arrived. Three algorithms, chosen by where the members are:
//
//	flags         all on one host, with a CPU for each PE: each member publishes its arrival and polls all the
//	              others'; for two PEs that is a single trip of a cache line.
//	central       all on one host, with more PEs than CPUs: a counter; the last to arrive releases all members.
//	              Few switches between processes matter then, not few cache misses.
//	hierarchical  on several hosts: the leader of a host (its first member) waits for the members of its host,
//	              the leaders disseminate in log2(hosts) rounds, and each leader releases its host's members.

import (
	"context"
)

// barrier makes a barrier that is a call of its own.
func (g *Group) barrier(ctx context.Context, c *Call) error {
	return g.barrierIn(ctx, g.advance(c, 0))
}

// barrierIn publishes e, the arrival record of the call under way, and blocks until all members have entered the
// call: their records may then be read.
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

// centralBarrier counts the members of this host that have arrived; the last releases the others.
func (g *Group) centralBarrier(ctx context.Context, e *arrival) error {
	last, err := g.arriveCentral(ctx, e)
	if last && err == nil {
		g.releaseCentral()
	}
	return err
}

// arriveCentral publishes e. It blocks until the last member of this host has released the others, or reports that
// this member is the last: it must then release them.
func (g *Group) arriveCentral(ctx context.Context, e *arrival) (last bool, err error) {
	if err := g.markArrived(e); err != nil {
		return false, err
	}
	c := g.local[0].syncWords()
	if c.arrived.Add(1) < uint64(len(g.local)) {
		return false, g.awaitTag(ctx, &c.released, g.localMembers[0])
	}
	c.arrived.Store(0)
	return true, g.sameTags()
}

// releaseCentral releases the members of this host from arriveCentral.
func (g *Group) releaseCentral() {
	g.local[0].syncWords().released.Store(g.calls.tag)
	g.wakeLocal()
}

// sameTags checks the tags of all members of this host, all of which have arrived.
func (g *Group) sameTags() error {
	for _, b := range g.local {
		if b.arrival(g.calls.n).tag.Load() != g.calls.tag {
			return g.diverged()
		}
	}
	return nil
}

// hierarchicalBarrier is the barrier on several hosts.
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

// disseminate is the barrier of the leaders: in round k each leader signals the leader 2^k hosts on, and waits
// for the leader 2^k hosts back.
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

// gatherLocal publishes e and blocks until all members of this host have entered the call.
func (g *Group) gatherLocal(ctx context.Context, l *layout, e *arrival) error {
	if err := g.arrive(e); err != nil {
		return err
	}
	for k := range l.local {
		if k == l.localRank {
			continue
		}
		if _, err := g.awaitArrival(ctx, l, k); err != nil {
			return err
		}
	}
	return nil
}
