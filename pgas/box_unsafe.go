package pgas

// Boxes: how members on different hosts send each other data inside a call. Every slot has a ring of
// boxes. A call reserves the next few of them, the same ones on every member, and says by its algorithm
// who fills which; a full box's signal is the tag of the call. So a message needs no matching, no buffer to
// ask for and no answer: it is one put with signal. A message longer than a box takes several in a row.

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

// box is the number of a box since the team began, modulo numBoxes its place.
type box uint64

// boxesFor is the number of boxes that a message of n bytes takes when it starts in any box.
func boxesFor(n int) int { return max(1, (n+boxBytes-1)/boxBytes) }

// maxMessage is the longest message that goes through boxes.
const maxMessage = numBoxes / 8 * boxBytes

// box takes the next k of the boxes that the call under way has reserved. They are in a row.
func (g *Group) box(k int) box {
	u := &g.turns
	x := u.nextBox
	if u.nextBox += box(k); u.nextBox > u.meeting {
		panic("pgas: a collective takes more boxes than it has reserved")
	}
	return x
}

func (x box) place() uintptr { return uintptr(x % numBoxes) }

// sendBox fills box x of member pe with data: complete there when the signal is seen. data may be reused
// on return.
func (g *Group) sendBox(pe int, x box, data []byte) {
	slot := slotOff(g.slot)
	g.sendTo(pe, x, uint64(slot+boxesOff+x.place()*boxBytes), data)
}

// sendTo puts data at offset dst of member pe's heap and then fills box x there, which stays empty.
func (g *Group) sendTo(pe int, x box, dst uint64, data []byte) {
	sig := slotOff(g.slot) + signalsOff + x.place()*wordStride
	to := g.pes[pe]
	g.n.channel(to).PutSignal(to, dst, data, uint64(sig), transport.Set, g.turns.tag)
}

// awaitBox waits until member pe has filled box x.
func (g *Group) awaitBox(ctx context.Context, x box, pe int) error {
	return g.awaitOwn(ctx, slotOff(g.slot)+signalsOff+x.place()*wordStride, pe)
}

// awaitOwn waits until the word at off of this PE's own heap, which member pe writes, is the tag of the
// call under way.
func (g *Group) awaitOwn(ctx context.Context, off uintptr, pe int) error {
	p := (*atomic.Uint64)(g.n.own(off))
	want := g.turns.tag
	v := p.Load()
	if v>>tagBits < want>>tagBits {
		c := g.n.wordCond(word8(uint64(off)), GE, want&^poisoned, false)
		c.party = g
		var err error
		if v, err = g.await(ctx, c, g.waitingFor(pe)); err != nil {
			return err
		}
	}
	return g.checkTag(v)
}

// boxData is the first n bytes that box x of this PE holds.
func (g *Group) boxData(x box, n int) []byte {
	return unsafe.Slice((*byte)(g.n.own(slotOff(g.slot)+boxesOff+x.place()*boxBytes)), n)
}

func word8(off uint64) transport.Word { return transport.Word{Off: off, Bytes: 8} }
