package sim

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

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// maxOverflow is how many notes wait at a NIC before initiators must wait.
const maxOverflow = 256

// note is the note that an op delivers at its target.
type note struct {
	stamp transport.Stamp
	bytes uint64
}

// noteQueue is the queue of a PE's notes, and those for which it has no room.
type noteQueue struct {
	ring     *shm.NoteQueue
	overflow []transport.Note
}

func (p *pe) openNotes() *noteQueue {
	if p.notes.ring == nil {
		p.notes.ring = shm.NewNoteQueue(p.heap, p.seg.States[0])
	}
	return &p.notes
}

// withNote makes o deliver a note about n bytes.
func (o *op) withNote(s transport.Stamp, n int) *op {
	o.notifies, o.note = true, note{s, uint64(n)}
	return o
}

// hasRoom reports whether p takes another note. If not, it asks p to drain its queue.
func (c *channel) hasRoom(p *pe) bool {
	if len(p.notes.overflow) < maxOverflow {
		return true
	}
	p.notes.ring.RequestSpace()
	p.Recheck()
	return false
}

// PutNotify implements transport.Channel.
func (c *channel) PutNotify(pe int, dst uint64, src []byte, st transport.Stamp) bool {
	if !c.hasRoom(c.pe.s.pes[pe]) {
		return false
	}
	o := c.newOp(opPut, pe, dst).withNote(st, len(src))
	o.data = append(o.data[:0], src...)
	o.nic = !c.pe.s.sameHost(c.pe.ID, pe)
	c.touchesOwnHeap(src, false)
	c.post(o)
	return true
}

// GetNotify implements transport.Channel.
func (c *channel) GetNotify(_ context.Context, pe int, dst []byte, src uint64, st transport.Stamp) (bool, error) {
	if !c.hasRoom(c.pe.s.pes[pe]) {
		return false, nil
	}
	o := c.newOp(opGet, pe, src).withNote(st, len(dst))
	o.size, o.nic = len(dst), !c.pe.s.sameHost(c.pe.ID, pe)
	err := c.execute(o)
	copy(dst, o.data)
	c.touchesOwnHeap(dst, true)
	c.pe.s.release(o)
	return true, err
}

// GetNotifyNB implements transport.Channel.
func (c *channel) GetNotifyNB(pe int, dst []byte, src uint64, st transport.Stamp) bool {
	if !c.hasRoom(c.pe.s.pes[pe]) {
		return false
	}
	o := c.newOp(opGet, pe, src).withNote(st, len(dst))
	o.size, o.dst, o.nic = len(dst), dst, !c.pe.s.sameHost(c.pe.ID, pe)
	c.post(o)
	return true
}

// AtomicNotify implements transport.Channel.
func (c *channel) AtomicNotify(_ context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, st transport.Stamp) (uint64, bool, error) {
	if !c.hasRoom(c.pe.s.pes[pe]) {
		return 0, false, nil
	}
	o := c.atomic(pe, op, word, operand, cond).withNote(st, word.Bytes)
	err := c.execute(o)
	old := o.old
	c.pe.s.release(o)
	return old, true, err
}

// PostNotify implements transport.Channel. It waits for an atomic that the NIC executes on its own host, so that
// no note of the CPU overtakes the atomic's.
func (c *channel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, st transport.Stamp) bool {
	if !c.hasRoom(c.pe.s.pes[pe]) {
		return false
	}
	o := c.atomic(pe, op, word, operand, 0).withNote(st, word.Bytes)
	if !o.nic || !c.pe.s.sameHost(c.pe.ID, pe) {
		c.post(o)
		return true
	}
	if err := c.execute(o); err != nil {
		c.flow(pe).lose()
	}
	c.pe.s.release(o)
	return true
}

// finishEffect sends the reply of o, which has taken effect: after its note, if it has one.
func (s *sim) finishEffect(o *op) *engine.Task {
	if !o.notifies {
		return s.reply(o)
	}
	o.phase = notifying
	if d := s.signalTime(); d > 0 || s.exploring() {
		s.engine.Schedule(s.engine.Now()+d, &o.Event)
		return nil
	}
	return s.notify(o)
}

// notify delivers the note of o, which is its last step at the target.
func (s *sim) notify(o *op) *engine.Task {
	s.record(noteStep, o)
	b := o.to.openNotes()
	n := transport.Note{Stamp: o.note.stamp, Bytes: o.note.bytes, Off: o.off}
	if len(b.overflow) > 0 || !s.push(o.to, n) {
		b.overflow = append(b.overflow, n)
		b.ring.SetOverflow(len(b.overflow))
		b.ring.RequestSpace()
		o.to.Recheck()
	}
	return s.reply(o)
}

// push puts n into the queue of p, if there is room.
func (s *sim) push(p *pe, n transport.Note) bool {
	off, ok := p.notes.ring.PushAt(n)
	if !ok {
		return false
	}
	if s.exploring() {
		s.explorer.wroteReserved(p, off, engine.Mix(uint64(n.Stamp))+engine.Mix(n.Bytes)+n.Off)
	}
	s.notifyWaiters(p, off, off+8)
	return true
}

// Refill implements transport.Overflow.
func (p *pe) Refill() {
	b := p.openNotes()
	for len(b.overflow) > 0 && p.s.push(p, b.overflow[0]) {
		b.overflow = b.overflow[1:]
	}
	b.ring.SetOverflow(len(b.overflow))
}

// AboutToReadNotes implements transport.Scheduler: what the PE does next may depend on which notes are in its queue.
func (p *pe) AboutToReadNotes() {
	if !p.s.exploring() {
		return
	}
	x := p.s.explorer
	h := &x.histories[p.ID]
	h.digest = engine.Mix(h.digest + x.bytes(p.heap[boot.NoteQueueOff:shm.NoteQueueEnd]))
	x.ReadsHeap(&p.PE)
}

// afterEarlierNotes returns when o takes effect: not before the notes of earlier operations, if o has a note.
func (o *op) afterEarlierNotes(when int64) int64 {
	if o.notifies {
		when = max(when, o.flow.lastNote)
		o.flow.lastNote = when
	}
	return when
}

var _ transport.Overflow = (*pe)(nil)
