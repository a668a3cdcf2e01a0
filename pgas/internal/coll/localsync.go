package coll

import (
	"context"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// arrive does stamp's work and wakes the members of this host that wait for the entry.
func (g *Group) arrive(e *arrival) error {
	if err := g.markArrived(e); err != nil {
		return err
	}
	g.wakeLocal()
	return nil
}

// wakeLocal wakes the members of this host that sleep in a call.
func (g *Group) wakeLocal() {
	for _, i := range g.localMembers {
		if i != g.Me {
			g.n.StateOf(g.PEs[i]).Ring(boot.BarrierWord)
		}
	}
}

// awaitArrival waits until member number k of this host has entered the call under way, and returns its
// entry, with everything that it stored before.
func (g *Group) awaitArrival(ctx context.Context, l *layout, k int) (*arrival, error) {
	e := l.local[k].arrival(g.calls.n)
	return e, g.awaitTag(ctx, &e.tag, l.localMembers[k])
}

// ready tells the members of this host that the first half of this PE's work in the call is over; what it
// stored before is there.
func (g *Group) ready() {
	g.view.syncWords().ready.Store(g.calls.tag)
	g.wakeLocal()
}

// awaitReady waits for member number k of this host to be ready.
func (g *Group) awaitReady(ctx context.Context, l *layout, k int) error {
	return g.awaitTag(ctx, &l.local[k].syncWords().ready, l.localMembers[k])
}

// done tells the members of this host that this PE is through with their memory.
func (g *Group) done() {
	g.view.syncWords().done.Store(g.calls.tag)
	g.wakeLocal()
}

// awaitDone waits until member number k of this host is through with others' memory.
func (g *Group) awaitDone(ctx context.Context, l *layout, k int) error {
	return g.awaitTag(ctx, &l.local[k].syncWords().done, l.localMembers[k])
}

// awaitRelease waits until the leader of this host lets this PE go on. The word is in this PE's own heap:
// while it waits for one of those it can serve other hosts.
func (g *Group) awaitRelease(ctx context.Context, l *layout) error {
	return g.awaitOwn(ctx, slotOff(g.Slot)+syncOff+releasedOff, l.localMembers[0])
}

// release is how a leader lets the members of its host go on.
func (g *Group) release(l *layout) {
	for k, i := range l.localMembers {
		if i != g.Me {
			l.local[k].syncWords().released.Store(g.calls.tag)
			g.n.StateOf(g.PEs[i]).Ring(uint64(slotOff(g.Slot) + syncOff + releasedOff))
		}
	}
}

// awaitTag waits until *p is the tag of the call under way; pe is the member that writes it.
func (g *Group) awaitTag(ctx context.Context, p *atomic.Uint64, pe int) error {
	want := g.calls.tag
	v := p.Load()
	if v>>tagBits < want>>tagBits {
		c := node.AtLeast(p, want&^poisoned)
		c.Party = g
		var err error
		if v, err = g.await(ctx, c, g.waitingFor(pe)); err != nil {
			return err
		}
	}
	return g.checkTag(v)
}

// checkTag makes sure that a tag which has come belongs to the call under way, or to a later one of a
// member that needed nobody to get there.
func (g *Group) checkTag(v uint64) error {
	if v != g.calls.tag && v>>tagBits == g.calls.n {
		return g.diverged()
	}
	return nil
}

// waitingFor is what a wait for member pe shows to others.
func (g *Group) waitingFor(pe int) node.Blocked {
	op := boot.InCollective
	switch Kind(g.view.arrival(g.calls.n).call & 0xff) {
	case KindSync:
		op = boot.InBarrier
	case KindClose:
		op = boot.InClose
	}
	return node.Blocked{Op: op, Peer: g.PEs[pe], Seq: g.calls.n, Party: g}
}

// awaitOwn waits until the word at off of this PE's own heap, which member pe writes, is the tag of the
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
	return g.checkTag(v)
}
