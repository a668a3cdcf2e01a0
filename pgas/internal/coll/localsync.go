package coll

import (
	"context"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// arrive publishes e (markArrived) and wakes the members of this host that wait for it.
func (g *Group) arrive(e *arrival) error {
	if err := g.markArrived(e); err != nil {
		return err
	}
	g.wakeLocal()
	return nil
}

// awaitArrival blocks until member number k of this host has entered the call under way, and returns its
// arrival record. What the member stored before is visible then.
func (g *Group) awaitArrival(ctx context.Context, l *layout, k int) (*arrival, error) {
	e := l.local[k].arrival(g.calls.n)
	return e, g.awaitTag(ctx, &e.tag, l.localMembers[k])
}

// ready tells the members of this host that the first half of this PE's work in the call is over. What this PE
// stored before is visible to them then.
func (g *Group) ready() {
	g.view.syncWords().ready.Store(g.calls.tag)
	g.wakeLocal()
}

// awaitReady blocks until member number k of this host is ready.
func (g *Group) awaitReady(ctx context.Context, l *layout, k int) error {
	return g.awaitTag(ctx, &l.local[k].syncWords().ready, l.localMembers[k])
}

// done tells the members of this host that this PE is through with their memory.
func (g *Group) done() {
	g.view.syncWords().done.Store(g.calls.tag)
	g.wakeLocal()
}

// awaitDone blocks until member number k of this host is through with other members' memory.
func (g *Group) awaitDone(ctx context.Context, l *layout, k int) error {
	return g.awaitTag(ctx, &l.local[k].syncWords().done, l.localMembers[k])
}

// awaitRelease blocks until the leader of this host releases this PE. The word is in this PE's own heap: a waiter
// for such a word can serve other hosts.
func (g *Group) awaitRelease(ctx context.Context, l *layout) error {
	return g.awaitOwn(ctx, slotOff(g.Slot)+syncOff+releasedOff, l.localMembers[0])
}

// release releases the members of this leader's host.
func (g *Group) release(l *layout) {
	for k, i := range l.localMembers {
		if i != g.Me {
			l.local[k].syncWords().released.Store(g.calls.tag)
			g.n.StateOf(g.PEs[i]).Ring(uint64(slotOff(g.Slot) + syncOff + releasedOff))
		}
	}
}

// awaitTag blocks until *p is the tag of the call under way; pe is the member that writes it.
func (g *Group) awaitTag(ctx context.Context, p *atomic.Uint64, pe int) error {
	for range firstLooks {
		if v := p.Load(); v>>tagBits >= g.calls.n {
			return g.checkTag(v)
		}
	}
	return g.awaitTagLong(ctx, p, pe)
}

// firstLooks is how often a waiter looks before it prepares to wait: to prepare takes as long as these looks, and
// members that arrive at the same time need not.
const firstLooks = 32

// awaitTagLong waits for a tag that is not there yet.
//
//go:noinline
func (g *Group) awaitTagLong(ctx context.Context, p *atomic.Uint64, pe int) error {
	c := node.AtLeast(p, g.calls.tag&^poisoned)
	c.Party = g
	v, err := g.await(ctx, c, g.waitingFor(pe))
	if err != nil {
		return err
	}
	return g.checkTag(v)
}

// checkTag checks that a tag belongs to the call under way, or to a later one of a member that could enter that
// without waiting for any other.
func (g *Group) checkTag(v uint64) error {
	if v != g.calls.tag && v>>tagBits == g.calls.n {
		return g.diverged()
	}
	return nil
}

// waitingFor returns what this PE publishes about a wait for member pe.
func (g *Group) waitingFor(pe int) node.Blocked {
	b := g.blockedIn()
	b.Peer = g.PEs[pe]
	return b
}

// blockedIn returns what this PE publishes about a wait for no member in particular.
func (g *Group) blockedIn() node.Blocked {
	b := node.Blocked{Op: boot.InCollective, Peer: -1, Seq: g.calls.n, Party: g}
	switch k := Kind(g.view.arrival(g.calls.n).call & 0xff); k {
	case KindSync:
		b.Op = boot.InBarrier
	case KindClose:
		b.Op = boot.InClose
	default:
		b.Cause = k.String()
	}
	return b
}

// awaitOwn blocks until the word at off of this PE's own heap, which member pe writes, is the tag of the
// call under way.
func (g *Group) awaitOwn(ctx context.Context, off uintptr, pe int) error {
	p := (*atomic.Uint64)(g.n.Own(off))
	want := g.calls.tag
	v := p.Load()
	if v>>tagBits < want>>tagBits {
		c := g.n.WordCond(node.Word8(uint64(off)), transport.GE, want&^poisoned, false)
		c.Party = g
		var err error
		if v, err = g.await(ctx, c, g.waitingFor(pe)); err != nil {
			return err
		}
	}
	// not even of a later call: the word is not used again before this PE is through with this one
	if v != g.calls.tag {
		return g.diverged()
	}
	return nil
}
