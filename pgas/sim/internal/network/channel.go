package network

// The transport of a World: channels to all PEs, its own included. Every operation becomes an Op. An operation with
// a result parks the task until its reply has arrived.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/transport"
)

// maxPosted bounds the non-blocking operations of a channel that are under way, about as the depth of a
// NIC's queue does. A PE that posts more waits until they are complete.
const maxPosted = 1024

// maxElapsed is how far the time of a task may be ahead of the operations that it has posted.
const maxElapsed = 1_000_000

// flow returns the flow of c to a PE.
func (c *channel) flow(to int) *flow {
	if f := c.lastFlow; f != nil && f.to.ID == to {
		return f
	}
	f := c.flows[to]
	if f == nil {
		f = &flow{ch: c, to: c.pe.net.pes[to]}
		if c.flows == nil {
			c.flows = map[int]*flow{}
		}
		c.flows[to] = f
		c.all = append(c.all, f)
	}
	c.lastFlow = f
	return f
}

// newOp returns an operation of kind k on pe, from the channel's PE.
func (c *channel) newOp(k kind, pe int, off uint64) *Op {
	net := c.pe.net
	o := net.newOp(k)
	o.from, o.to, o.off = c.pe, net.pes[pe], off
	o.origin, o.target = int32(c.pe.ID), int32(pe)
	return o
}

// Put implements transport.Channel.
func (c *channel) Put(pe int, dst uint64, src []byte) {
	c.putParts(pe, dst, src, 0)
}

// putParts puts src, which has a handle, or none if that is 0.
func (c *channel) putParts(pe int, dst uint64, src []byte, handle uint64) {
	if c.pe.net.unordered() && len(src) > 8 {
		cut := len(src) / 2 &^ 7 // a put of more than a word may become visible in parts
		c.post(c.put(pe, dst, src[:max(8, cut)], handle))
		c.post(c.put(pe, dst+uint64(max(8, cut)), src[max(8, cut):], handle))
		return
	}
	c.post(c.put(pe, dst, src, handle))
}

// put returns a put of src, which reads it now if handle is 0.
func (c *channel) put(pe int, dst uint64, src []byte, handle uint64) *Op {
	o := c.newOp(opPut, pe, dst)
	o.data = append(o.data[:0], src...)
	if handle > 0 {
		o.late = &lateness{source: src, handle: handle}
	}
	o.nic = !c.pe.net.costs.sameHost(c.pe.ID, pe)
	c.touchesOwnHeap(src, false)
	return o
}

// PutSignal implements transport.Channel.
func (c *channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	c.putSignal(pe, dst, src, sig, op, value, 0)
}

func (c *channel) putSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value, handle uint64) {
	o := c.put(pe, dst, src, handle)
	o.signal, o.sig, o.atomicOp, o.operand = true, sig, op, value
	o.nic = c.atomicsByNIC(pe)
	c.post(o)
}

// Get implements transport.Channel.
func (c *channel) Get(_ context.Context, pe int, dst []byte, src uint64) error {
	o := c.newOp(opGet, pe, src)
	o.size, o.nic = len(dst), !c.pe.net.costs.sameHost(c.pe.ID, pe)
	err := c.execute(o)
	copy(dst, o.data) // by this task, since dst may be on its stack
	c.touchesOwnHeap(dst, true)
	c.pe.net.release(o)
	return err
}

// GetNB implements transport.Channel.
func (c *channel) GetNB(pe int, dst []byte, src uint64) {
	o := c.newOp(opGet, pe, src)
	o.size, o.dst, o.nic = len(dst), dst, !c.pe.net.costs.sameHost(c.pe.ID, pe)
	c.post(o)
}

// Atomic implements transport.Channel.
func (c *channel) Atomic(_ context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64) (uint64, error) {
	o := c.atomic(pe, op, at, operand, cond)
	err := c.execute(o)
	old := o.old
	c.pe.net.release(o)
	return old, err
}

// AtomicNB implements transport.Channel.
func (c *channel) AtomicNB(pe int, op transport.Op, at transport.Word, operand, cond uint64, dst []byte) {
	o := c.atomic(pe, op, at, operand, cond)
	o.dst = dst
	c.post(o)
}

// Post implements transport.Channel.
func (c *channel) Post(pe int, op transport.Op, at transport.Word, operand uint64) {
	c.post(c.atomic(pe, op, at, operand, 0))
}

func (c *channel) atomic(pe int, op transport.Op, at transport.Word, operand, cond uint64) *Op {
	o := c.newOp(opAtomic, pe, at.Off)
	o.atomicOp, o.bytes, o.operand, o.cond = op, uint8(at.Bytes), operand, cond
	o.nic = c.atomicsByNIC(pe)
	return o
}

// atomicsByNIC reports whether the NIC executes atomics on pe, and not the CPU.
func (c *channel) atomicsByNIC(pe int) bool {
	return !c.pe.net.costs.sameHost(c.pe.ID, pe) || c.pe.net.config.Split && !c.cpu
}

// execute issues o and waits for its reply. The caller releases o.
func (c *channel) execute(o *Op) error {
	net, t := c.pe.net, c.pe.net.Engine.Running()
	o.SetTask(t)
	if net.unordered() || o.notifies {
		o.flow = c.flow(o.to.ID)
	}
	if net.unordered() {
		o.flow.add(o)
	}
	if net.exploring() {
		net.number(o)
		o.phase = applying
		net.observer.Issued(o)
		net.Engine.Schedule(0, &o.Event)
		t.Park()
		return t.Err()
	}
	net.issue(o, t)
	t.Elapsed = 0
	t.Park()
	return t.Err()
}

// post issues o, which is non-blocking.
func (c *channel) post(o *Op) {
	net, t := c.pe.net, c.pe.net.Engine.Running()
	o.flow = c.flow(o.to.ID)
	o.flow.pendingOps++
	c.pendingOps++
	if net.unordered() {
		o.flow.add(o)
	}
	if net.exploring() {
		net.observer.Issued(o)
	}
	c.postedSinceQuiet = true
	net.issue(o, t)
	if c.pendingOps >= maxPosted {
		c.await(t, nil)
	}
	if t.Elapsed > maxElapsed {
		net.Engine.Advance(t, 0)
	}
}

// Fence implements transport.Channel.
func (c *channel) Fence(pe int) {
	t := c.pe.net.Engine.Running()
	if pe >= 0 {
		c.fence(t, c.flow(pe))
		return
	}
	for _, f := range c.all {
		c.fence(t, f)
	}
}

// fence orders one flow. A flow is ordered anyway if operations do not overtake each other, but a store of the
// CPU overtakes operations of the NIC of its host: there a fence is a quiet, as on real machines.
func (c *channel) fence(t *engine.Task, f *flow) {
	switch {
	case c.pe.net.unordered():
		f.fence()
	case c.pe.net.config.Split && !c.cpu && c.pe.net.costs.sameHost(c.pe.ID, f.to.ID):
		c.await(t, f)
	}
}

// Quiet implements transport.Channel.
func (c *channel) Quiet(ctx context.Context, pe int) error {
	t := c.pe.net.Engine.Running()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var f *flow
	if pe >= 0 {
		f = c.flow(pe)
	}
	c.await(t, f)
	if f != nil {
		return f.err
	}
	return c.err
}

// Close implements transport.Channel.
func (c *channel) Close() error { return nil }

// await parks t until the operations to one PE are complete, or those to all if f is nil.
func (c *channel) await(t *engine.Task, f *flow) {
	net := c.pe.net
	notified := net.costs.Notify > 0 && c.byNIC(f)
	if net.config.Adversary {
		net.late().demand(c, f, t)
	}
	left := c.pending(f) > 0
	if !left && c.postedSinceQuiet && net.exploring() { // a wait that is already over is a move of its own
		net.Engine.ResumeAt(t, 0, Quieted)
		t.Park()
	}
	if left {
		c.quietWaits = append(c.quietWaits, quietWait{t, f})
		t.ParkBusy()
	}
	if f == nil {
		c.postedSinceQuiet = false
	}
	since := c.completedAt
	if f != nil {
		since = f.completedAt
	}
	if net.exploring() {
		return
	}
	if d := since - net.Engine.Now() - t.Elapsed; d > 0 {
		net.Engine.Advance(t, d)
	}
	if notified && !net.config.Adversary {
		net.Engine.Advance(t, net.costs.Notify)
	}
}

// byNIC reports whether the NIC has operations under way to one PE, or to any if f is nil.
func (c *channel) byNIC(f *flow) bool {
	if f == nil {
		return slices.ContainsFunc(c.all, c.byNIC)
	}
	return f.pendingOps > 0 && c.atomicsByNIC(f.to.ID) || f.completedAt > c.pe.net.Engine.Now()
}

// touchesOwnHeap tells the observer that an operation of c copies from or to b, if b is in the initiator's own heap.
func (c *channel) touchesOwnHeap(b []byte, write bool) {
	x := c.pe.net.observer
	if x == nil {
		return
	}
	if lo, hi, own := c.pe.HeapRange(b); own {
		x.UsesHeap(c.pe, lo, hi, write)
	}
}
