package coll

// Collective calls that fail because the context of a member has ended.
//
// The rule, for calls that no member leaves before all have entered: either every member returns nil, or every
// member returns an error. What decides is one word of each member, the tag in its arrival record of the call, which
// changes once:
//
//	entered    by its owner, when it enters the call
//	poisoned   by its owner, which has found its context ended when it would have entered, or has found
//	           that the members are not in the same call
//	cancelled  by another member, which has entered and whose context has ended while it waits
//
// A call completes only if all members have entered it. So a PE whose context ends inside a call tries to
// cancel the arrival record of a member that has not entered. If it succeeds, no member completes the call. If all have
// entered, the call completes without any program's help, and the PE waits for that although its context has ended.
//
// A call that is given up ends the use of the team: its members no longer know how far the others have got.
// Each member returns the same reason, which the one that gave up leaves in its slot (report_unsafe.go).

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// abortCall ends the use of the team because ctx has ended, and returns the cause.
func (g *Group) abortCall(ctx context.Context) error {
	g.publishAbort(g.abortedBy(ctx)) // and returns at once: the caller's time is over
	return context.Cause(ctx)
}

// abortedBy returns the reason of the other members' errors when this PE gives up the call under way.
func (g *Group) abortedBy(ctx context.Context) *reason {
	k := Kind(g.view.arrival(g.calls.n).call & 0xff)
	return &reason{
		pe:   g.n.Job.PE,
		call: fmt.Sprintf("%s (call %d of team %s)", k, g.calls.n, g.Name),
		err:  remoteCause(context.Cause(ctx).Error(), causeOf(ctx)),
	}
}

// await waits for c inside the call under way. When ctx ends, it cancels the call for all members, or goes on
// waiting if all of them have entered.
func (g *Group) await(ctx context.Context, c node.Cond, why node.Blocked) (uint64, error) {
	v, err := g.n.Await(ctx, c, why)
	if err == nil || ctx.Err() == nil || g.calls.failed != nil || g.n.PeerFailure() != nil {
		return v, err
	}
	g.view.report().store(g.abortedBy(ctx)) // before another member looks for it
	if g.cancelEntry() {
		return v, g.abortCall(ctx)
	}
	late, stop := g.n.WithTimeout(g.n.Ctx, g.n.CycleTimeout())
	defer stop()
	v, err = g.n.Await(late, c, why)
	if err != nil && late.Err() != nil && g.n.Ctx.Err() == nil {
		return v, g.abortCall(ctx) // a member has stopped inside the call
	}
	return v, err
}

// cancelEntry cancels the arrival record of a member that has not entered the call under way, and reports false if
// there is no such member. It reports true as well if the call has been given up already, or if a member has not
// answered for so long that its record cannot be read.
func (g *Group) cancelEntry() bool {
	n := g.calls.n
	mark := n<<tagBits | cancelled
	for k := range g.local {
		tag := &g.local[k].arrival(n).tag
		for v := tag.Load(); ; v = tag.Load() {
			if v>>tagBits >= n {
				if isAbortedTag(v, n) {
					return true
				}
				break
			}
			if tag.CompareAndSwap(v, mark) {
				return true
			}
		}
	}
	for i, pe := range g.PEs {
		if g.n.Shm.Heap(pe) == nil && g.cancelRemote(i, mark) {
			return true
		}
	}
	return false
}

// cancelRemote does cancelEntry's work for member i, which is on another host.
func (g *Group) cancelRemote(i int, mark uint64) bool {
	n := g.calls.n
	at := node.Word8(uint64(slotOff(g.Slot) + arrivalOff(n)))
	ctx, stop := g.n.WithTimeout(g.n.Ctx, node.PeekTime)
	defer stop()
	via := g.n.Channel(g.PEs[i])
	v, err := via.Atomic(ctx, g.PEs[i], transport.Fetch, at, 0, 0)
	for err == nil && v>>tagBits < n {
		var old uint64
		if old, err = via.Atomic(ctx, g.PEs[i], transport.CompareSwap, at, mark, v); old == v && err == nil {
			return true
		}
		v = old
	}
	return err != nil || isAbortedTag(v, n)
}

// markArrived enters the call under way: it publishes this PE's arrival record e, and all that was stored before. It
// fails if another member has cancelled the call.
func (g *Group) markArrived(e *arrival) error {
	for {
		old := e.tag.Load()
		if old>>tagBits >= g.calls.n {
			return g.diverged()
		}
		if e.tag.CompareAndSwap(old, g.calls.tag) {
			return nil
		}
	}
}

// flush completes what this PE has sent and fetched inside the call under way, even if the call's context ends:
// the members it talks to have entered.
func (g *Group) flush() error { return g.n.Flush(g.n.Ctx) }
