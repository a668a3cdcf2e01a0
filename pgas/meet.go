package pgas

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
)

// Barrier is a Quiet of the default context followed by a meeting of all PEs: when it returns, every
// PE has called it, and everything any PE issued on its default context before is complete
// (OpenSHMEM 1.6, shmem_barrier_all). When it returns an error the PEs are no longer in step: only
// Close is of use then.
func (w *World) Barrier(ctx context.Context) error { return w.Team().Barrier(ctx) }

// Sync is a meeting of all PEs without the Quiet: stores to this host's memory are visible after it,
// puts to other hosts need not be (OpenSHMEM 1.6, shmem_sync_all).
func (w *World) Sync(ctx context.Context) error { return w.Team().Sync(ctx) }

// Barrier is a Quiet of the default context followed by Sync: when it returns, every member has called
// it, and everything any member issued on its default context before is complete.
func (t *Team) Barrier(ctx context.Context) error {
	t.alive("Barrier")
	given("Barrier", ctx)
	if err := t.quiet(ctx); err != nil {
		return fmt.Errorf("barrier: %w", err)
	}
	return t.sync(ctx, kindSync, "barrier")
}

// Sync is a meeting of all members: it returns when all have called it. Stores to this host's memory are
// visible after it; puts to other hosts need not be (OpenSHMEM 1.6, shmem_team_sync).
func (t *Team) Sync(ctx context.Context) error {
	t.alive("Sync")
	given("Sync", ctx)
	return t.sync(ctx, kindSync, "sync")
}

// quiet completes what the default context has issued, before a call of t. If ctx has ended it does nothing: the
// call reports that to the other members.
func (t *Team) quiet(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	if err := t.w.def.Quiet(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

func (t *Team) sync(ctx context.Context, k kind, what string) error {
	c := call{kind: k}
	if err := t.takeTurn(ctx, c); err != nil {
		return fmt.Errorf("%s of team %s%s: %w", what, t.name, atSite(), err)
	}
	err := t.meet(ctx, c)
	if err != nil {
		err = fmt.Errorf("%s %d of team %s%s: %w", what, t.turns.n, t.name, atSite(), err)
	}
	t.leave()
	return err
}

// meet is a call of its own in which all members meet.
func (t *Team) meet(ctx context.Context, c call) error { return t.meetIn(ctx, t.next(c, 0)) }

// meetIn publishes e, the entry of the call under way, and returns when all members have entered it:
// theirs may then be read.
func (t *Team) meetIn(ctx context.Context, e *entry) error {
	var err error
	switch {
	case len(t.hosts) > 1:
		err = t.meetHosts(ctx, e)
	case t.w.n.flags:
		err = t.meetLocal(ctx, &t.layout, e)
	default:
		err = t.meetCentral(ctx, e)
	}
	if err == nil {
		t.entered()
	}
	return err
}

func (t *Team) meetCentral(ctx context.Context, e *entry) error {
	if err := t.stamp(e); err != nil {
		return err
	}
	c := t.local[0].control()
	if c.arrived.Add(1) < uint64(len(t.local)) {
		return t.awaitTag(ctx, &c.released, t.here[0])
	}
	c.arrived.Store(0)
	if err := t.sameTags(); err != nil {
		return err
	}
	c.released.Store(t.turns.tag)
	t.ringLocal()
	return nil
}

// sameTags checks the entries of all members of this host, who have all arrived.
func (t *Team) sameTags() error {
	for _, b := range t.local {
		if b.entry(t.turns.n).tag.Load() != t.turns.tag {
			return t.outOfStep()
		}
	}
	return nil
}

func (t *Team) meetHosts(ctx context.Context, e *entry) error {
	if !t.lead() {
		if err := t.publish(e); err != nil {
			return err
		}
		return t.awaitRelease(ctx, &t.layout)
	}
	if err := t.meetLocal(ctx, &t.layout, e); err != nil {
		return err
	}
	t.compareHere()
	if err := t.disseminate(ctx); err != nil {
		return err
	}
	t.decide(e)
	t.releaseLocal(&t.layout)
	return nil
}

// disseminate is the meeting of the leaders: in round k each tells the leader 2^k hosts on, and waits for
// the one 2^k hosts back.
func (t *Team) disseminate(ctx context.Context) error {
	n, me := len(t.hosts), t.host
	for k, step := 0, 1; step < n; k, step = k+1, 2*step {
		to, from := t.hosts[(me+step)%n][0], t.hosts[(me-step+n)%n][0]
		x := t.turns.meeting + box(k)
		t.sendBox(to, x, t.turns.bits.message())
		if err := t.awaitBox(ctx, x, from); err != nil {
			return err
		}
		t.compareBox(x)
	}
	return nil
}
