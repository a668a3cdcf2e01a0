package sim

// Notified accesses. Each is one message: what carries it also carries the note, which takes effect after it
// as the signal of a put does. Notes are left in the ring of the target's World, as on real machines; those
// for which it has no room wait at the target's NIC, as many as it can hold. Then who has another one must
// wait too.
//
// Costs. Between hosts a note is 8 bytes more. On one host it is the trip of one cache line more.
//
// With an adversary, and in an exploration, the notes of one channel to one PE stay in the order of their
// issue, as on every transport; whatever else is not fenced comes in any order.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// maxOverflow is how many notes wait at a NIC before others must wait where they come from.
const maxOverflow = 256

// note is what o leaves at its target.
type note struct {
	stamp transport.Stamp
	bytes uint64
}

// noteQueue is where a PE's notes arrive.
type noteQueue struct {
	ring     *shm.Ring
	overflow []transport.Note
}

func (p *pe) openNotes() *noteQueue {
	if p.notes.ring == nil {
		p.notes.ring = shm.NewRing(p.heap, p.seg.States[0])
	}
	return &p.notes
}

// withNote makes o leave one about n bytes.
func (o *op) withNote(s transport.Stamp, n int) *op {
	o.notifies, o.note = true, note{s, uint64(n)}
	return o
}

// hasRoom says whether p takes another note. If not, p is asked to make room.
func (c *channel) hasRoom(p *pe) bool {
	if len(p.notes.overflow) < maxOverflow {
		return true
	}
	p.notes.ring.Want()
	c.pe.s.recheckAll(p)
	return false
}

// PutNotify is transport.Notifier's.
func (c *channel) PutNotify(pe int, dst uint64, src []byte, st transport.Stamp) bool {
	if !c.hasRoom(c.pe.s.pes[pe]) {
		return false
	}
	o := c.newOp(opPut, pe, dst).withNote(st, len(src))
	o.data = append(o.data[:0], src...)
	o.nic = !c.pe.s.sameHost(c.pe.id, pe)
	c.touchesOwnHeap(src, false)
	c.post(o)
	return true
}

// PutNotifyNB is transport.Notifier's.
func (c *channel) PutNotifyNB(pe int, dst uint64, src []byte, st transport.Stamp) (uint64, bool) {
	return 0, c.PutNotify(pe, dst, src, st)
}

// GetNotify is transport.Notifier's.
func (c *channel) GetNotify(_ context.Context, pe int, dst []byte, src uint64, st transport.Stamp) (bool, error) {
	if !c.hasRoom(c.pe.s.pes[pe]) {
		return false, nil
	}
	o := c.newOp(opGet, pe, src).withNote(st, len(dst))
	o.size, o.nic = len(dst), !c.pe.s.sameHost(c.pe.id, pe)
	err := c.execute(o)
	copy(dst, o.data)
	c.touchesOwnHeap(dst, true)
	c.pe.s.release(o)
	return true, err
}

// GetNotifyNB is transport.Notifier's.
func (c *channel) GetNotifyNB(pe int, dst []byte, src uint64, st transport.Stamp) bool {
	if !c.hasRoom(c.pe.s.pes[pe]) {
		return false
	}
	o := c.newOp(opGet, pe, src).withNote(st, len(dst))
	o.size, o.dst, o.nic = len(dst), dst, !c.pe.s.sameHost(c.pe.id, pe)
	c.post(o)
	return true
}

// AtomicNotify is transport.Notifier's.
func (c *channel) AtomicNotify(_ context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64, st transport.Stamp) (uint64, bool, error) {
	if !c.hasRoom(c.pe.s.pes[pe]) {
		return 0, false, nil
	}
	o := c.atomic(pe, op, at, operand, cond).withNote(st, at.Bytes)
	err := c.execute(o)
	old := o.old
	c.pe.s.release(o)
	return old, true, err
}

// PostNotify is transport.Notifier's. Where the NIC updates a word of its own host, it is waited for, so that
// no note by the CPU comes before the atomic's.
func (c *channel) PostNotify(pe int, op transport.Op, at transport.Word, operand uint64, st transport.Stamp) bool {
	if !c.hasRoom(c.pe.s.pes[pe]) {
		return false
	}
	o := c.atomic(pe, op, at, operand, 0).withNote(st, at.Bytes)
	if !o.nic || !c.pe.s.sameHost(c.pe.id, pe) {
		c.post(o)
		return true
	}
	if err := c.execute(o); err != nil {
		c.err = err
	}
	c.pe.s.release(o)
	return true
}

// finishEffect lets o return, which has taken effect: after its note, if it leaves one.
func (s *sim) finishEffect(o *op) *task {
	if !o.notifies {
		return s.reply(o)
	}
	o.phase = notifying
	if d := s.signalTime(); d > 0 || s.exploring() {
		s.schedule(s.now+d, o)
		return nil
	}
	return s.notify(o)
}

// notify is the last step of o: its note.
func (s *sim) notify(o *op) *task {
	s.record(noteStep, o)
	b := o.to.openNotes()
	n := transport.Note{Stamp: o.note.stamp, Bytes: o.note.bytes, Off: o.off}
	if len(b.overflow) > 0 || !s.push(o.to, n) {
		b.overflow = append(b.overflow, n)
		b.ring.SetSpilled(len(b.overflow))
		b.ring.Want()
		s.recheckAll(o.to)
	}
	return s.reply(o)
}

// push leaves n in the ring of p, if there is room.
func (s *sim) push(p *pe, n transport.Note) bool {
	off, ok := p.notes.ring.PushAt(n)
	if !ok {
		return false
	}
	if s.exploring() {
		s.explorer.wroteReserved(p, off, mix(uint64(n.Stamp))+mix(n.Bytes)+n.Off)
	}
	s.notifyWaiters(p, off, off+8)
	return true
}

// Refill is transport.Spiller's.
func (p *pe) Refill() {
	b := p.openNotes()
	for len(b.overflow) > 0 && p.s.push(p, b.overflow[0]) {
		b.overflow = b.overflow[1:]
	}
	b.ring.SetSpilled(len(b.overflow))
}

// LooksForNotes is transport.NoteLooker's: what the PE does next may follow from which notes are there.
func (p *pe) LooksForNotes() {
	if !p.s.exploring() {
		return
	}
	x := p.s.explorer
	h := &x.histories[p.id]
	h.digest = mix(h.digest + x.bytes(p.heap[shm.RingOff:shm.RingEnd]))
	x.readsHeap(p)
}

// afterEarlierNotes is when o, whose note would be left at the given time, may leave it: after those before it.
func (o *op) afterEarlierNotes(when int64) int64 {
	if o.notifies {
		when = max(when, o.flow.lastNote)
		o.flow.lastNote = when
	}
	return when
}

var (
	_ transport.Notifier   = (*channel)(nil)
	_ transport.Spiller    = (*pe)(nil)
	_ transport.NoteLooker = (*pe)(nil)
)
