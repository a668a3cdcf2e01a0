package coll

// Mailboxes: how members on different hosts send each other data inside a call. Every slot has a ring of
// mailboxes. A call reserves the next few of them, the same ones on every member. Its algorithm determines
// which member fills which mailbox. The signal of a full mailbox is the tag of the call. So a message needs no
// matching, no buffer to ask for and no answer: it is one put with signal. A message longer than a mailbox takes
// several in a row.

import (
	"context"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

// mailboxesFor returns the number of mailboxes that a message of n bytes takes.
func mailboxesFor(n int) int { return max(1, (n+mailboxBytes-1)/mailboxBytes) }

// maxMessage is the longest message that goes through mailboxes.
const maxMessage = numMailboxes / 8 * mailboxBytes

// takeMailboxes takes the next k of the mailboxes that the call under way has reserved. They are in a row.
func (g *Group) takeMailboxes(k int) mailbox {
	u := &g.calls
	x := u.nextMailbox
	if u.nextMailbox += mailbox(k); u.nextMailbox > u.syncMailboxes {
		panic("pgas: a collective takes more boxes than it has reserved")
	}
	return x
}

// send fills mailbox x of member pe with data, which is complete at pe when pe sees the signal. data may be
// reused on return.
func (g *Group) send(pe int, x mailbox, data []byte) {
	slot := slotOff(g.Slot)
	g.putThenSignal(pe, x, uint64(slot+mailboxesOff+x.index()*mailboxBytes), data)
}

// putThenSignal puts data at offset dst of member pe's heap and then signals mailbox x of pe, which stays empty.
func (g *Group) putThenSignal(pe int, x mailbox, dst uint64, data []byte) {
	sig := slotOff(g.Slot) + signalsOff + x.index()*wordStride
	to := g.PEs[pe]
	g.n.Channel(to).PutSignal(to, dst, data, uint64(sig), transport.Set, g.calls.tag)
}

// awaitMailbox blocks until member pe has filled mailbox x.
func (g *Group) awaitMailbox(ctx context.Context, x mailbox, pe int) error {
	return g.awaitOwn(ctx, slotOff(g.Slot)+signalsOff+x.index()*wordStride, pe)
}

// received returns the first n bytes that mailbox x of this PE holds.
func (g *Group) received(x mailbox, n int) []byte {
	return unsafe.Slice((*byte)(g.n.Own(slotOff(g.Slot)+mailboxesOff+x.index()*mailboxBytes)), n)
}
