//go:build race

package strands

// Notified accesses. One strand of a target does all of them, since their notes arrive in the order of issue.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// runNotified has a strand carry out t, and reports whether there was room for the note.
//
//go:norace
func (c *Channel) runNotified(t *task, on span) bool {
	c.run(&c.target(t.pe).notes, t, on, span{})
	return t.ok
}

//go:norace
func (c *Channel) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) bool {
	t := &task{kind: putNote, pe: pe, off: dst, local: copyOf(src), stamp: s}
	c.lock()
	defer c.unlock()
	return c.runNotified(t, heapSpan(pe, dst, len(src)))
}

// GetNotify gets as Get does. A strand leaves the note.
//
//go:norace
func (c *Channel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (bool, error) {
	if err := c.Get(ctx, pe, dst, src); err != nil {
		return false, err
	}
	t := &task{kind: note, pe: pe, off: src, remote: c.heap(pe, src, len(dst)), stamp: s}
	c.lock()
	defer c.unlock()
	return c.runNotified(t, span{}), nil
}

//go:norace
func (c *Channel) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) bool {
	c.lock()
	defer c.unlock()
	c.touched = touch(dst)
	return c.runNotified(&task{kind: getNote, pe: pe, off: src, local: dst, stamp: s}, heapSpan(pe, src, len(dst)))
}

// AtomicNotify applies the atomic on a strand, and orders the calling goroutine after the other updates of the word.
//
//go:norace
func (c *Channel) AtomicNotify(_ context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, s transport.Stamp) (old uint64, ok bool, err error) {
	t := c.updateTask(pe, op, word, operand, cond)
	t.kind, t.stamp = atomicNote, s
	c.lock()
	defer c.unlock()
	ok = c.runNotified(t, heapSpan(pe, word.Off, word.Bytes))
	acquireFrom(t.at)
	return t.old, ok, nil
}

//go:norace
func (c *Channel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, s transport.Stamp) bool {
	t := c.updateTask(pe, op, word, operand, 0)
	t.kind, t.stamp = postNote, s
	c.lock()
	defer c.unlock()
	return c.runNotified(t, heapSpan(pe, word.Off, word.Bytes))
}
