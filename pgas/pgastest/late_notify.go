package pgastest

// Notified operations over the late network. They arrive as late as others do, each followed by its note.
// The notes of one channel on one PE stay in the order of their issue.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// lateNotes are the notes that have arrived at one PE.
type lateNotes struct {
	ring     *shm.NoteQueue
	overflow []transport.Note // notes for which the queue had no room
}

// lateMaxOverflow is how many notes may wait for room.
const lateMaxOverflow = 64

// noteOrder stands for the bytes that all notes of a PE write. So they stay in order, and a PE that waits for a note
// waits for some of these bytes.
var noteOrder = span{boot.NoteQueueOff, boot.NoteQueueOff + boot.NoteQueueBytes}

// notify delivers note at pe. The caller has locked the network.
func (n *lateNetwork) notify(pe int, note transport.Note) {
	at := &n.notes[pe]
	if len(at.overflow) > 0 || !at.ring.Push(note) {
		at.overflow = append(at.overflow, note)
		at.ring.SetOverflow(len(at.overflow))
		at.ring.RequestSpace()
	}
}

// Refill implements transport.Overflow.
func (t *lateTransport) Refill() {
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	at := &t.net.notes[t.me]
	for len(at.overflow) > 0 && at.ring.Push(at.overflow[0]) {
		at.overflow = at.overflow[1:]
	}
	at.ring.SetOverflow(len(at.overflow))
}

// withNote locks the network and calls issue if pe has room for a note. It reports whether it has.
func (c *lateChannel) withNote(pe int, issue func()) bool {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if len(c.net.notes[pe].overflow) >= lateMaxOverflow {
		c.net.notes[pe].ring.RequestSpace()
		return false
	}
	issue()
	return true
}

func (c *lateChannel) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) bool {
	return c.withNote(pe, func() { c.holdNotified(pe, dst, c.source(pe, 0, src), s) })
}

// PutNotifyZcopy does not copy: src is read when the data arrives.
func (c *lateChannel) PutNotifyZcopy(pe int, dst uint64, src []byte, s transport.Stamp) (handle uint64, ok bool) {
	ok = c.withNote(pe, func() {
		handle = c.handle()
		c.holdNotified(pe, dst, c.source(pe, handle, src), s)
	})
	return handle, ok
}

// holdNotified holds a put with a note.
func (c *lateChannel) holdNotified(pe int, dst uint64, src *lateSource, s transport.Stamp) {
	n := uint64(len(src.bytes))
	c.holdLocked(pe, func(to transport.Channel) {
		to.Put(pe, dst, src.read())
		c.net.notify(pe, transport.Note{Stamp: s, Bytes: n, Off: dst})
	}, span{dst, dst + n}, noteOrder)
}

func (c *lateChannel) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) bool {
	return c.withNote(pe, func() {
		value := c.result(pe, dst)
		c.holdResult(pe, func(to transport.Channel) {
			to.GetNB(pe, value, src)
			c.net.notify(pe, transport.Note{Stamp: s, Bytes: uint64(len(dst)), Off: src})
		}, noteOrder, span{src, src + uint64(len(dst))})
	})
}

func (c *lateChannel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (ok bool, err error) {
	ok = c.withNote(pe, func() {
		c.recordReturn(pe, span{src, src + uint64(len(dst))})
		c.deliverBefore(pe, noteOrder, span{src, src + uint64(len(dst))})
		defer c.net.recordArrival(pe)
		err = c.net.to[pe].Get(ctx, pe, dst, src)
		c.net.notify(pe, transport.Note{Stamp: s, Bytes: uint64(len(dst)), Off: src})
	})
	return ok, err
}

func (c *lateChannel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, s transport.Stamp) bool {
	return c.withNote(pe, func() {
		c.holdLocked(pe, func(to transport.Channel) {
			to.Post(pe, op, word, operand)
			c.net.notify(pe, transport.Note{Stamp: s, Bytes: uint64(word.Bytes), Off: word.Off})
		}, spanOf(word), noteOrder)
	})
}

func (c *lateChannel) AtomicNotify(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, s transport.Stamp) (old uint64, ok bool, err error) {
	ok = c.withNote(pe, func() {
		c.recordReturn(pe, spanOf(word))
		c.deliverBefore(pe, spanOf(word), noteOrder)
		defer c.net.recordArrival(pe)
		old, err = c.net.to[pe].Atomic(ctx, pe, op, word, operand, cond)
		c.net.notify(pe, transport.Note{Stamp: s, Bytes: uint64(word.Bytes), Off: word.Off})
	})
	return old, ok, err
}

// deliverBefore delivers what must arrive before an operation that touches these bytes of pe.
func (c *lateChannel) deliverBefore(pe int, touch ...span) {
	this := c.op(pe, touch...)
	for c.net.deliverOne(func(op *lateOp) bool { return op.before(this) }) {
	}
}

var _ transport.Overflow = (*lateTransport)(nil)
