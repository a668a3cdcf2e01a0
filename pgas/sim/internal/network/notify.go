package network

// Notified operations. Each is one message, which also carries the note. The note takes effect after the operation,
// as the signal of a put does. Notes are put into the queue of the target's World, as on real machines. Those
// for which it has no room wait at the target's NIC, up to maxOverflow. Then the next initiator must
// wait too.
//
// Costs. Between hosts a note is 8 bytes more. On one host it is one cache line transfer more.
//
// With an adversary, and in an exploration, the notes of one channel on one PE stay in the order of their
// issue, as on every transport. Other operations that no fence orders take effect in any order.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// withNote makes o deliver a note about n bytes.
func (o *Op) withNote(s transport.Stamp, n int) *Op {
	o.notifies, o.note = true, note{s, uint64(n)}
	return o
}

// hasRoom reports whether p takes another note. If not, it asks p to drain its queue.
func (c *channel) hasRoom(p *PE) bool {
	if len(p.notes.overflow) < maxOverflow {
		return true
	}
	p.notes.ring.RequestSpace()
	p.Recheck()
	return false
}

// PutNotify implements transport.Channel.
func (c *channel) PutNotify(pe int, dst uint64, src []byte, st transport.Stamp) bool {
	if !c.hasRoom(c.pe.net.pes[pe]) {
		return false
	}
	c.putNotify(pe, dst, src, st, 0)
	return true
}

func (c *channel) putNotify(pe int, dst uint64, src []byte, st transport.Stamp, handle uint64) {
	c.post(c.put(pe, dst, src, handle).withNote(st, len(src)))
}

// GetNotify implements transport.Channel.
func (c *channel) GetNotify(_ context.Context, pe int, dst []byte, src uint64, st transport.Stamp) (bool, error) {
	if !c.hasRoom(c.pe.net.pes[pe]) {
		return false, nil
	}
	o := c.newOp(opGet, pe, src).withNote(st, len(dst))
	o.size, o.nic = len(dst), !c.pe.net.costs.sameHost(c.pe.ID, pe)
	err := c.execute(o)
	copy(dst, o.data)
	c.touchesOwnHeap(dst, true)
	c.pe.net.release(o)
	return true, err
}

// GetNotifyNB implements transport.Channel.
func (c *channel) GetNotifyNB(pe int, dst []byte, src uint64, st transport.Stamp) bool {
	if !c.hasRoom(c.pe.net.pes[pe]) {
		return false
	}
	o := c.newOp(opGet, pe, src).withNote(st, len(dst))
	o.size, o.dst, o.nic = len(dst), dst, !c.pe.net.costs.sameHost(c.pe.ID, pe)
	c.post(o)
	return true
}

// AtomicNotify implements transport.Channel.
func (c *channel) AtomicNotify(_ context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, st transport.Stamp) (uint64, bool, error) {
	if !c.hasRoom(c.pe.net.pes[pe]) {
		return 0, false, nil
	}
	o := c.atomic(pe, op, word, operand, cond).withNote(st, word.Bytes)
	err := c.execute(o)
	old := o.old
	c.pe.net.release(o)
	return old, true, err
}

// PostNotify implements transport.Channel. It waits for an atomic that the NIC executes on its own host, so that
// no note of the CPU overtakes the atomic'net.
func (c *channel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, st transport.Stamp) bool {
	if !c.hasRoom(c.pe.net.pes[pe]) {
		return false
	}
	o := c.atomic(pe, op, word, operand, 0).withNote(st, word.Bytes)
	if !o.nic || !c.pe.net.costs.sameHost(c.pe.ID, pe) {
		c.post(o)
		return true
	}
	if err := c.execute(o); err != nil {
		c.flow(pe).lose()
	}
	c.pe.net.release(o)
	return true
}
