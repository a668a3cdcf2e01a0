package shm

// Notified accesses to the PEs of this host.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// shortBytes is the longest put that is copied under its ticket. The copy delays the notes of other initiators.
const shortBytes = 64

// PutNotify implements transport.Channel. A short put takes its ticket first: then the cache lines of its
// destination and of its note travel to this CPU at the same time, where a locked instruction between the two stores
// would wait for the first.
func (c *Channel) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) bool {
	i := c.local(pe)
	q, to := c.queues[i], c.heaps[i][dst:dst+uint64(len(src))]
	note := transport.Note{Stamp: s, Bytes: uint64(len(src)), Off: dst}
	if len(src) <= shortBytes {
		t, ok := q.ticket()
		if ok {
			storeShort(to, src)
			q.fill(t, note)
		}
		return ok
	}
	if !q.hasRoom() {
		return false
	}
	Copy(to, src)
	return q.Push(note) // if other initiators have taken all room during the copy, the caller's next attempt repeats it
}

// GetNotify implements transport.Channel.
func (c *Channel) GetNotify(_ context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (bool, error) {
	return c.GetNotifyNB(pe, dst, src, s), nil
}

// GetNotifyNB implements transport.Channel.
func (c *Channel) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) bool {
	q := c.queues[c.local(pe)]
	if !q.hasRoom() {
		return false
	}
	c.GetNB(pe, dst, src)
	return q.Push(transport.Note{Stamp: s, Bytes: uint64(len(dst)), Off: src})
}

// AtomicNotify implements transport.Channel.
func (c *Channel) AtomicNotify(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, s transport.Stamp) (old uint64, ok bool, err error) {
	ok = c.NotifyAfter(pe, transport.Note{Stamp: s, Bytes: uint64(word.Bytes), Off: word.Off}, func() {
		old, err = c.Atomic(ctx, pe, op, word, operand, cond)
	})
	return old, ok, err
}

// NotifyAfter calls access, which must not be called twice, and then leaves n at pe. If there is no room for n, it
// does nothing and reports false.
func (c *Channel) NotifyAfter(pe int, n transport.Note, access func()) bool {
	t, ok := c.Ticket(pe)
	if !ok {
		return false
	}
	access()
	c.Fill(pe, t, n)
	return true
}

// Ticket reserves room for a note at pe, and reports whether there is some. Notes arrive in the order of their tickets,
// so the caller calls Fill soon.
func (c *Channel) Ticket(pe int) (ticket uint64, ok bool) { return c.queues[c.local(pe)].ticket() }

// Fill leaves n at pe, for which a ticket has reserved room, after an access.
func (c *Channel) Fill(pe int, ticket uint64, n transport.Note) {
	c.queues[c.local(pe)].fill(ticket, n)
}

// PostNotify implements transport.Channel.
func (c *Channel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, s transport.Stamp) bool {
	_, ok, _ := c.AtomicNotify(context.Background(), pe, op, word, operand, 0, s)
	return ok
}
