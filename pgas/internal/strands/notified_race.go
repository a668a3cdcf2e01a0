//go:build race && (amd64 || arm64)

package strands

// Notified accesses. One strand of a target does all of them, since their notes arrive in the order of issue.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// notedTask returns the task of an access to n bytes at offset off of pe, which leaves a note.
//
//go:norace
func (c *Channel) notedTask(k kind, pe int, off uint64, n int, s transport.Stamp) task {
	return task{kind: k, pe: pe, off: off, remote: c.heap(pe, off, n), noted: true, note: transport.Note{Stamp: s, Bytes: uint64(n), Off: off}}
}

// runNoted has a strand carry out t if there is room for its note, and reports whether there is.
//
//go:norace
func (c *Channel) runNoted(t *task, on span) (ok bool) {
	hide()
	t.ticket, ok = c.mem.Ticket(t.pe)
	show()
	if ok {
		c.run(&c.target(t.pe).notes, t, on, span{})
	}
	return ok
}

//go:norace
func (c *Channel) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) bool {
	reads(src)
	t := c.notedTask(put, pe, dst, len(src), s)
	t.local = src
	c.lock()
	defer c.unlock()
	return c.runNoted(&t, heapSpan(pe, dst, len(src)))
}

// GetNotify gets as Get does. A strand leaves the note.
//
//go:norace
func (c *Channel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (bool, error) {
	if err := c.Get(ctx, pe, dst, src); err != nil {
		return false, err
	}
	t := c.notedTask(none, pe, src, len(dst), s)
	c.lock()
	defer c.unlock()
	return c.runNoted(&t, span{}), nil
}

//go:norace
func (c *Channel) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) bool {
	t := c.notedTask(get, pe, src, len(dst), s)
	t.local = dst
	c.lock()
	defer c.unlock()
	return c.runNoted(&t, heapSpan(pe, src, len(dst)))
}

// updateNoted has a strand carry out an atomic that leaves a note, and reports whether there is room for the note.
//
//go:norace
func (c *Channel) updateNoted(t *task, s transport.Stamp) bool {
	t.noted, t.note = true, transport.Note{Stamp: s, Bytes: uint64(t.word.Bytes), Off: t.word.Off}
	c.lock()
	defer c.unlock()
	return c.runNoted(t, heapSpan(t.pe, t.word.Off, t.word.Bytes))
}

// AtomicNotify applies the atomic on a strand, and orders the calling goroutine after the other updates of the word.
//
//go:norace
func (c *Channel) AtomicNotify(_ context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, s transport.Stamp) (old uint64, ok bool, err error) {
	t := c.updateTask(pe, op, word, operand, cond)
	ok = c.updateNoted(&t, s)
	acquireFrom(t.at)
	return t.old, ok, nil
}

//go:norace
func (c *Channel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, s transport.Stamp) bool {
	t := c.updateTask(pe, op, word, operand, 0)
	return c.updateNoted(&t, s)
}
