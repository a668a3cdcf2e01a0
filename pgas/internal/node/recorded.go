package node

// Channels that record what goes through them: how many operations on which PE with how many bytes, and, if there is a
// trace, the updates of words that may wake other PEs. They are in the way only if something is recorded.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/transport"
)

// smallPut is the most bytes of a put that may be a flag for which its target waits.
const smallPut = 8

// Recorded is a channel that records what goes through the channel in it.
type Recorded struct {
	transport.Channel
	rec     *record.PE
	runtime bool // everything that goes through it is the runtime's own
}

// Record returns a channel over c that records in rec.
func Record(c transport.Channel, rec *record.PE) *Recorded { return &Recorded{Channel: c, rec: rec} }

// count counts an operation.
func (c *Recorded) count(k record.Kind, pe, bytes int) {
	if c.runtime {
		k = record.Runtime
	}
	c.rec.Operation(k, pe, bytes)
}

// note records a notification by an access that was begun at a moment. It counts as one operation of kind Notified.
func (c *Recorded) note(at int64, pe, bytes int, s transport.Stamp) {
	c.count(record.Notified, pe, bytes)
	c.rec.RecordAt(at, record.Note, pe, 0, uint64(s.Tag()))
}

// update records an update of a word, before it is made: a waiter may see it at once.
func (c *Recorded) update(pe int, off, value uint64) {
	if !c.runtime {
		c.rec.Record(record.Update, pe, off, value)
	}
}

func (c *Recorded) Put(pe int, dst uint64, src []byte) {
	c.count(record.Put, pe, len(src))
	if len(src) <= smallPut {
		c.update(pe, dst, 0)
	}
	c.Channel.Put(pe, dst, src)
}

func (c *Recorded) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	c.count(record.Signal, pe, len(src)+8)
	c.update(pe, sig, value)
	c.Channel.PutSignal(pe, dst, src, sig, op, value)
}

func (c *Recorded) Get(ctx context.Context, pe int, dst []byte, src uint64) error {
	c.count(record.Get, pe, len(dst))
	return c.Channel.Get(ctx, pe, dst, src)
}

func (c *Recorded) GetNB(pe int, dst []byte, src uint64) {
	c.count(record.Get, pe, len(dst))
	c.Channel.GetNB(pe, dst, src)
}

func (c *Recorded) Atomic(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64) (uint64, error) {
	c.count(record.Fetch, pe, word.Bytes)
	if op != transport.Fetch {
		c.update(pe, word.Off, operand)
	}
	return c.Channel.Atomic(ctx, pe, op, word, operand, cond)
}

func (c *Recorded) AtomicNB(pe int, op transport.Op, word transport.Word, operand, cond uint64, dst []byte) {
	c.count(record.Fetch, pe, word.Bytes)
	if op != transport.Fetch {
		c.update(pe, word.Off, operand)
	}
	c.Channel.AtomicNB(pe, op, word, operand, cond, dst)
}

func (c *Recorded) Post(pe int, op transport.Op, word transport.Word, operand uint64) {
	c.count(record.Atomic, pe, word.Bytes)
	c.update(pe, word.Off, operand)
	c.Channel.Post(pe, op, word, operand)
}

func (c *Recorded) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) bool {
	at := c.rec.Moment()
	ok := c.Channel.PutNotify(pe, dst, src, s)
	if ok {
		c.note(at, pe, len(src), s)
	}
	return ok
}

func (c *Recorded) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (bool, error) {
	at := c.rec.Moment()
	ok, err := c.Channel.GetNotify(ctx, pe, dst, src, s)
	if ok {
		c.note(at, pe, len(dst), s)
	}
	return ok, err
}

func (c *Recorded) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) bool {
	at := c.rec.Moment()
	ok := c.Channel.GetNotifyNB(pe, dst, src, s)
	if ok {
		c.note(at, pe, len(dst), s)
	}
	return ok
}

func (c *Recorded) AtomicNotify(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, s transport.Stamp) (uint64, bool, error) {
	at := c.rec.Moment()
	old, ok, err := c.Channel.AtomicNotify(ctx, pe, op, word, operand, cond, s)
	if ok {
		c.note(at, pe, word.Bytes, s)
	}
	return old, ok, err
}

func (c *Recorded) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, s transport.Stamp) bool {
	at := c.rec.Moment()
	ok := c.Channel.PostNotify(pe, op, word, operand, s)
	if ok {
		c.note(at, pe, word.Bytes, s)
	}
	return ok
}
