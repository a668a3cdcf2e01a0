package coll

// What detectors of races learn of a call. PGAS_CHECK=race learns which members have entered the call when a member
// leaves, and which memory the member has read and written itself. A call that the program does not wait for is a
// strand of its own there, until the program knows that it is complete. Go's race detector learns of that memory alone,
// after the call: where the algorithm has ordered more members than the call promises, their accesses still race with
// it.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/internal/vector"
)

// seeEnter tells the detector that this member enters c, the call that has just got its number. A call before it in the
// same turn is over.
func (g *Group) seeEnter(c *Call) {
	g.seeLeave()
	s := &g.calls.seen
	*s = seenCall{
		key:     racecheck.CallKey{Home: int32(g.PEs[0]), Slot: int32(g.Slot), Number: g.calls.n, Member: int32(g.Me), Size: int32(len(g.PEs))},
		last:    len(g.PEs) - 1,
		entered: true,
	}
	switch c.Kind {
	case kindBroadcast, kindBroadcastValue:
		if s.first, s.last = c.root, c.root; c.root == g.Me {
			s.last = s.first - 1
		}
	case KindInscan:
		s.last = g.Me
	case KindExscan:
		s.last = g.Me - 1
	}
	if r := g.calls.running.Load(); r != nil {
		s.request = r.races
	} else if r := g.calls.last.Load(); r != nil {
		r.seenOver()
	}
	g.n.Races.Enter(s.key, s.request)
}

// seeLeave tells the detector that this member leaves the call under way, if there is one.
func (g *Group) seeLeave() {
	if s := &g.calls.seen; s.entered {
		s.entered = false
		g.n.Races.Leave(g.n.Ctx, s.key, s.first, s.last, s.request)
	}
}

// see tells the detector that this member reads or writes bytes of its own heap in a call that the program has made
// with ctx.
func (g *Group) see(ctx context.Context, how racecheck.How, off uintptr, bytes int) {
	g.seeBlocks(ctx, how, off, bytes, bytes, 1)
}

// seeBlocks is see for blocks at equal distances.
func (g *Group) seeBlocks(ctx context.Context, how racecheck.How, off uintptr, bytes, step, count int) {
	if bytes == 0 || count == 0 || !vector.Detected && g.n.Races == nil {
		return
	}
	if step == bytes {
		bytes, step, count = bytes*count, bytes*count, 1
	}
	r, _ := ctx.Value(requestKey{}).(*Request)
	if r == nil && !g.seeTurn(ctx) {
		return
	}
	if vector.Detected {
		g.showBlocks(how, off, bytes, step, count)
	}
	if g.n.Races == nil {
		return
	}
	var request *racecheck.Request
	if r != nil {
		request = r.races
	}
	g.n.Races.Touch(uint64(off), uint64(bytes), uint64(step), uint64(count), how, request)
}

// seeTurn waits for the calls that a call which the program makes now runs after. It reports false if ctx ends first:
// the call will fail, and accesses nothing.
func (g *Group) seeTurn(ctx context.Context) bool {
	r := g.calls.last.Load()
	if r == nil || r.seenOver() {
		return true
	}
	if g.n.AwaitClosed(ctx, r.over) != nil {
		return false
	}
	r.races.Over()
	return true
}

// showBlocks tells Go's race detector that this member reads or writes blocks of its own heap.
func (g *Group) showBlocks(how racecheck.How, off uintptr, bytes, step, count int) {
	for i := range count {
		block := g.n.Heap[int(off)+i*step:][:bytes]
		if how == racecheck.Write {
			vector.ToDetector(block, nil, nil)
		} else {
			vector.ToDetector(nil, block, nil)
		}
	}
}

// seeEnd is see for a member that leaves a call: its source was read until now, and its destination is written.
func (g *Group) seeEnd(ctx context.Context, src uintptr, srcBytes int, dst uintptr, dstBytes int) {
	g.see(ctx, racecheck.Read, src, srcBytes)
	g.see(ctx, racecheck.Write, dst, dstBytes)
}
