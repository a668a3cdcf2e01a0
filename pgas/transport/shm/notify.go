package shm

// Notified accesses to the PEs of this host.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// PutNotify is transport.Notifier's.
func (c *Channel) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) bool {
	i := c.local(pe)
	switch n := len(src); {
	case n == 0:
		return c.rings[i].Push(transport.Note{Stamp: s, Off: dst})
	case n > InlineBytes:
		return c.putNotify(i, dst, src, s)
	}
	_ = c.heaps[i][dst : dst+uint64(len(src))] // whoever copies it there finds it in range
	last := c.rings[i].pushInline(dst, src, s)
	if last == 0 {
		return false
	}
	for at := &c.inline[i]; ; {
		if old := at.Load(); old >= last || at.CompareAndSwap(old, last) {
			break
		}
	}
	if c.inlines.Load() == 0 {
		c.inlines.Store(1)
	}
	return true
}

// putNotify is PutNotify of what does not fit a note. Puts that are still in notes land first, so that of
// two notified puts to one place the second is the one that stays. If others take all room during the copy,
// the caller's next attempt repeats it.
func (c *Channel) putNotify(i int, dst uint64, src []byte, s transport.Stamp) bool {
	r := c.rings[i]
	if !r.hasRoom() {
		return false
	}
	c.landAt(i)
	Copy(c.heaps[i][dst:dst+uint64(len(src))], src)
	return r.Push(transport.Note{Stamp: s, Bytes: uint64(len(src)), Off: dst})
}

// PutNotifyNB is transport.Notifier's.
func (c *Channel) PutNotifyNB(pe int, dst uint64, src []byte, s transport.Stamp) (uint64, bool) {
	return 0, c.PutNotify(pe, dst, src, s)
}

// GetNotify is transport.Notifier's.
func (c *Channel) GetNotify(_ context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (bool, error) {
	return c.GetNotifyNB(pe, dst, src, s), nil
}

// GetNotifyNB is transport.Notifier's.
func (c *Channel) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) bool {
	r := c.rings[c.local(pe)]
	if !r.hasRoom() {
		return false
	}
	c.GetNB(pe, dst, src)
	return r.Push(transport.Note{Stamp: s, Bytes: uint64(len(dst)), Off: src})
}

// AtomicNotify is transport.Notifier's.
func (c *Channel) AtomicNotify(ctx context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64, s transport.Stamp) (old uint64, ok bool, err error) {
	ok = c.NotifyAfter(pe, transport.Note{Stamp: s, Bytes: uint64(at.Bytes), Off: at.Off}, func() {
		old, err = c.Atomic(ctx, pe, op, at, operand, cond)
	})
	return old, ok, err
}

// NotifyAfter calls do, which must not be called twice, and then leaves n at pe; without room for that it
// does nothing and reports false.
func (c *Channel) NotifyAfter(pe int, n transport.Note, do func()) bool {
	r := c.rings[c.local(pe)]
	t, ok := r.ticket()
	if !ok {
		return false
	}
	do()
	r.fill(t, n)
	return true
}

// PostNotify is transport.Notifier's.
func (c *Channel) PostNotify(pe int, op transport.Op, at transport.Word, operand uint64, s transport.Stamp) bool {
	_, ok, _ := c.AtomicNotify(context.Background(), pe, op, at, operand, 0, s)
	return ok
}

// Land brings the puts to pe (to every PE if pe < 0) that are still in notes of this channel to where they
// belong. What a fence and a quiet do beyond that is for the caller.
func (c *Channel) Land(pe int) {
	if c.inlines.Load() == 0 {
		return
	}
	if pe >= 0 {
		c.landAt(c.local(pe))
		return
	}
	c.inlines.Store(0) // before the look at each: who sends another meanwhile sets it again
	for i := range c.inline {
		c.landAt(i)
	}
}

func (c *Channel) landAt(i int) {
	if last := c.inline[i].Load(); last != 0 {
		c.rings[i].land(last)
		c.inline[i].CompareAndSwap(last, 0)
	}
}

var _ transport.Notifier = (*Channel)(nil)
