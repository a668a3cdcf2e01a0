package sim

// What a World sees of the simulator: a transport to all PEs, its own included. Every operation becomes an
// op; those that return something park the task until they are back.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/pgas/transport"
)

// maxPosted is how many operations of a channel may be under way that nobody waits for: the depth of a
// NIC's queue, more or less. Who posts more waits until they are through.
const maxPosted = 1024

// Name is "sim".
func (p *pe) Name() string { return "sim" }

// Heap is nil: nobody reaches another's heap but through the simulator.
func (p *pe) Heap(int) []byte { return nil }

// Channel is transport.Transport's.
func (p *pe) Channel(bool) (transport.Channel, error) { return p.newChannel(false), nil }

// CPUChannel is transport.CPUChanneler's.
func (p *pe) CPUChannel(bool) (transport.Channel, error) { return p.newChannel(true), nil }

func (p *pe) newChannel(cpu bool) *channel {
	p.channels++
	return &channel{pe: p, cpu: cpu, serial: p.channels}
}

// Close is transport.Transport's.
func (p *pe) Close() error { return nil }

// Fault is transport.Watcher's: the PEs that have died are in the segments.
func (p *pe) Fault() error { return nil }

type channel struct {
	pe               *pe
	cpu              bool // atomics on this host are the CPU's
	flows            map[int]*flow
	all              []*flow // in the order of their making
	lastFlow         *flow   // the one used last
	pendingOps       int     // operations under way that nobody waits for
	postedSinceQuiet bool    // something was posted since the last Quiet
	serial           int     // of its PE's channels
	completedAt      int64   // when the last of those that are through was known to be
	quietWaits       []quietWait
	err              error // the PE that an operation was lost to, until Quiet reports it
}

// quietWait is a task that waits for operations to be complete.
type quietWait struct {
	t *task
	f *flow // those to one PE, or nil
}

func (c *channel) flow(to int) *flow {
	if f := c.lastFlow; f != nil && f.to.id == to {
		return f
	}
	f := c.flows[to]
	if f == nil {
		f = &flow{ch: c, to: c.pe.s.pes[to]}
		if c.flows == nil {
			c.flows = map[int]*flow{}
		}
		c.flows[to] = f
		c.all = append(c.all, f)
	}
	c.lastFlow = f
	return f
}

// newOp is an operation of kind k on pe.
func (c *channel) newOp(k kind, pe int, off uint64) *op {
	s := c.pe.s
	o := s.newOp(k)
	o.from, o.to, o.off = c.pe, s.pes[pe], off
	o.origin, o.target = int32(c.pe.id), int32(pe)
	return o
}

// Put is transport.Channel's.
func (c *channel) Put(pe int, dst uint64, src []byte) {
	if c.pe.s.unordered() && len(src) > 8 {
		cut := len(src) / 2 &^ 7 // what is larger than a word may be seen in parts
		c.put(pe, dst, src[:max(8, cut)])
		c.put(pe, dst+uint64(max(8, cut)), src[max(8, cut):])
		return
	}
	c.put(pe, dst, src)
}

func (c *channel) put(pe int, dst uint64, src []byte) {
	o := c.newOp(opPut, pe, dst)
	o.data = append(o.data[:0], src...)
	o.nic = !c.pe.s.sameHost(c.pe.id, pe)
	c.touchesOwnHeap(src, false)
	c.post(o)
}

// PutSignal is transport.Channel's.
func (c *channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	o := c.newOp(opPut, pe, dst)
	o.data = append(o.data[:0], src...)
	o.signal, o.sig, o.atomicOp, o.operand = true, sig, op, value
	o.nic = c.atomicsByNIC(pe)
	c.touchesOwnHeap(src, false)
	c.post(o)
}

// Get is transport.Channel's.
func (c *channel) Get(_ context.Context, pe int, dst []byte, src uint64) error {
	o := c.newOp(opGet, pe, src)
	o.size, o.nic = len(dst), !c.pe.s.sameHost(c.pe.id, pe)
	err := c.execute(o)
	copy(dst, o.data) // here: dst may be on the stack of this task
	c.touchesOwnHeap(dst, true)
	c.pe.s.release(o)
	return err
}

// GetNB is transport.Channel's.
func (c *channel) GetNB(pe int, dst []byte, src uint64) {
	o := c.newOp(opGet, pe, src)
	o.size, o.dst, o.nic = len(dst), dst, !c.pe.s.sameHost(c.pe.id, pe)
	c.post(o)
}

// Atomic is transport.Channel's.
func (c *channel) Atomic(_ context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64) (uint64, error) {
	o := c.atomic(pe, op, at, operand, cond)
	err := c.execute(o)
	old := o.old
	c.pe.s.release(o)
	return old, err
}

// AtomicNB is transport.Channel's.
func (c *channel) AtomicNB(pe int, op transport.Op, at transport.Word, operand, cond uint64, dst []byte) {
	o := c.atomic(pe, op, at, operand, cond)
	o.dst = dst
	c.post(o)
}

// Post is transport.Channel's.
func (c *channel) Post(pe int, op transport.Op, at transport.Word, operand uint64) {
	c.post(c.atomic(pe, op, at, operand, 0))
}

func (c *channel) atomic(pe int, op transport.Op, at transport.Word, operand, cond uint64) *op {
	o := c.newOp(opAtomic, pe, at.Off)
	o.atomicOp, o.bytes, o.operand, o.cond = op, uint8(at.Bytes), operand, cond
	o.nic = c.atomicsByNIC(pe)
	return o
}

// atomicsByNIC says who executes an atomic on pe.
func (c *channel) atomicsByNIC(pe int) bool {
	return !c.pe.s.sameHost(c.pe.id, pe) || c.pe.s.cfg.Atomics == Split && !c.cpu
}

// execute issues o and waits until it is back. The caller releases it.
func (c *channel) execute(o *op) error {
	s, t := c.pe.s, c.pe.s.runningTask()
	t.generation++
	t.err = nil
	o.task, o.generation = t, t.generation
	if s.unordered() || o.notifies {
		o.flow = c.flow(o.to.id)
	}
	if s.unordered() {
		o.flow.add(o)
	}
	if s.exploring() {
		s.number(o)
		s.explorer.opIssued(o)
		s.explorer.step(t, o)
		return t.err
	}
	s.issue(o, t)
	t.elapsed = 0
	t.park()
	return t.err
}

// post issues o for nobody to wait for.
func (c *channel) post(o *op) {
	s, t := c.pe.s, c.pe.s.runningTask()
	o.flow = c.flow(o.to.id)
	o.flow.pendingOps++
	c.pendingOps++
	if s.unordered() {
		o.flow.add(o)
	}
	if s.exploring() {
		s.explorer.histories[c.pe.id].readOnly = false
		s.explorer.opIssued(o)
	}
	c.postedSinceQuiet = true
	s.issue(o, t)
	if c.pendingOps >= maxPosted {
		c.await(t, nil)
	}
	if t.elapsed > maxElapsed {
		s.advance(t, 0)
	}
}

// Fence is transport.Channel's.
func (c *channel) Fence(pe int) {
	t := c.pe.s.runningTask()
	if pe >= 0 {
		c.fence(t, c.flow(pe))
		return
	}
	for _, f := range c.all {
		c.fence(t, f)
	}
}

// fence is the fence of one flow. Without chaos nothing overtakes anything of its own kind, but a store of the
// CPU overtakes the NIC of its host: there a fence is a quiet, as on real machines.
func (c *channel) fence(t *task, f *flow) {
	switch {
	case c.pe.s.unordered():
		f.fence()
	case c.pe.s.cfg.Atomics == Split && !c.cpu && c.pe.s.sameHost(c.pe.id, f.to.id):
		c.await(t, f)
	}
}

// Quiet is transport.Channel's.
func (c *channel) Quiet(ctx context.Context, pe int) error {
	t := c.pe.s.runningTask()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var f *flow
	if pe >= 0 {
		f = c.flow(pe)
	}
	c.await(t, f)
	return c.err
}

// Close is transport.Channel's.
func (c *channel) Close() error { return nil }

// await lets t wait for what is under way to one PE, or to all.
func (c *channel) await(t *task, f *flow) {
	s := c.pe.s
	notified := s.costs.Notify > 0 && c.byNIC(f)
	left := c.pending(f) > 0
	if !left && c.postedSinceQuiet && s.exploring() { // a wait that is over: a move of its own, whatever came first
		s.explorer.makeRunnable(t, reasonQuiet)
		t.park()
	}
	if left {
		t.generation++
		s.setBusy(t)
		c.quietWaits = append(c.quietWaits, quietWait{t, f})
		t.park()
	}
	if f == nil {
		c.postedSinceQuiet = false
	}
	since := c.completedAt
	if f != nil {
		since = f.completedAt
	}
	if s.exploring() {
		return
	}
	if d := since - s.now - t.elapsed; d > 0 {
		s.advance(t, d)
	}
	if notified && !s.cfg.Adversary {
		s.advance(t, int64(s.costs.Notify))
	}
}

// byNIC says that the NIC has something under way to one PE, or to any.
func (c *channel) byNIC(f *flow) bool {
	if f == nil {
		return slices.ContainsFunc(c.all, c.byNIC)
	}
	return f.pendingOps > 0 && c.atomicsByNIC(f.to.id) || f.completedAt > c.pe.s.now
}

func (c *channel) pending(f *flow) int {
	if f != nil {
		return f.pendingOps
	}
	return c.pendingOps
}

// opCompleted notes that a posted operation is complete, and resumes who waited for that. It returns the
// task that goes on now.
func (f *flow) opCompleted(s *sim) *task {
	c := f.ch
	f.pendingOps--
	c.pendingOps--
	for i := 0; i < len(c.quietWaits); i++ {
		if q := c.quietWaits[i]; c.pending(q.f) == 0 {
			c.quietWaits = append(c.quietWaits[:i], c.quietWaits[i+1:]...)
			i--
			s.resumeAt(q.t, max(s.now, q.t.busyUntil), reasonQuiet)
		}
	}
	return nil
}
