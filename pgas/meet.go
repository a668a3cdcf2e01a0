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

func (g *Group) sync(ctx context.Context, k kind, what string) error {
	c := call{kind: k}
	if err := g.takeTurn(ctx, c); err != nil {
		return fmt.Errorf("%s of team %s%s: %w", what, g.name, atSite(), err)
	}
	err := g.meet(ctx, c)
	if err != nil {
		err = fmt.Errorf("%s %d of team %s%s: %w", what, g.turns.n, g.name, atSite(), err)
	}
	g.leave()
	return err
}

// meet is a call of its own in which all members meet.
func (g *Group) meet(ctx context.Context, c call) error { return g.meetIn(ctx, g.next(c, 0)) }

// meetIn publishes e, the entry of the call under way, and returns when all members have entered it:
// theirs may then be read.
func (g *Group) meetIn(ctx context.Context, e *entry) error {
	var err error
	switch {
	case len(g.hosts) > 1:
		err = g.meetHosts(ctx, e)
	case g.n.flags:
		err = g.meetLocal(ctx, &g.layout, e)
	default:
		err = g.meetCentral(ctx, e)
	}
	if err == nil {
		g.entered()
	}
	return err
}

func (g *Group) meetCentral(ctx context.Context, e *entry) error {
	if err := g.stamp(e); err != nil {
		return err
	}
	c := g.local[0].control()
	if c.arrived.Add(1) < uint64(len(g.local)) {
		return g.awaitTag(ctx, &c.released, g.here[0])
	}
	c.arrived.Store(0)
	if err := g.sameTags(); err != nil {
		return err
	}
	c.released.Store(g.turns.tag)
	g.ringLocal()
	return nil
}

// sameTags checks the entries of all members of this host, who have all arrived.
func (g *Group) sameTags() error {
	for _, b := range g.local {
		if b.entry(g.turns.n).tag.Load() != g.turns.tag {
			return g.outOfStep()
		}
	}
	return nil
}

func (g *Group) meetHosts(ctx context.Context, e *entry) error {
	if !g.lead() {
		if err := g.publish(e); err != nil {
			return err
		}
		return g.awaitRelease(ctx, &g.layout)
	}
	if err := g.meetLocal(ctx, &g.layout, e); err != nil {
		return err
	}
	g.compareHere()
	if err := g.disseminate(ctx); err != nil {
		return err
	}
	g.decide(e)
	g.releaseLocal(&g.layout)
	return nil
}

// disseminate is the meeting of the leaders: in round k each tells the leader 2^k hosts on, and waits for
// the one 2^k hosts back.
func (g *Group) disseminate(ctx context.Context) error {
	n, me := len(g.hosts), g.host
	for k, step := 0, 1; step < n; k, step = k+1, 2*step {
		to, from := g.hosts[(me+step)%n][0], g.hosts[(me-step+n)%n][0]
		x := g.turns.meeting + box(k)
		g.sendBox(to, x, g.turns.bits.message())
		if err := g.awaitBox(ctx, x, from); err != nil {
			return err
		}
		g.compareBox(x)
	}
	return nil
}
