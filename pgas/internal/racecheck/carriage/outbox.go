package carriage

// A stream of messages to a PE, as its sender writes it.

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/transport"
)

type outbox struct {
	c    *Carriage
	to   int
	slot int

	waiting atomic.Bool // there are messages that are not sent: changed under mu, read without

	mu       sync.Mutex
	via      transport.Channel
	enc      encoder
	messages []byte // those that are not sent
	scratch  []byte // of a message, or a frame
	at       uint64 // position behind the last frame that was sent
	head     uint64 // how far the target has read, as far as this PE knows
	lostTold bool   // the target knows that this PE has lost records
}

// add adds a message, which was made in o.scratch. The caller has locked o.
func (o *outbox) add(message []byte) {
	o.scratch = message[:0]
	o.messages = binary.AppendUvarint(o.messages, uint64(len(message)))
	o.messages = append(o.messages, message...)
	o.waiting.Store(true)
}

// send sends all messages. If it may not wait for room, it sends what there is room for, and reports whether that was
// all. The caller has locked o. Nothing is left in a Carriage that has lost records.
func (o *outbox) send(ctx context.Context, wait bool) bool {
	rest := o.messages
	for len(rest) > 0 && !o.c.lost.Load() {
		n := min(uint64(len(rest)), o.c.frame()-frameHead, o.toEnd()-frameHead)
		if !o.hasRoom(frameSize(n)) && !o.awaitRoom(ctx, frameSize(n), wait) {
			break
		}
		o.put(rest[:n])
		rest = rest[n:]
	}
	if o.c.lost.Load() {
		rest = nil
	}
	o.messages = append(o.messages[:0], rest...)
	o.waiting.Store(len(rest) > 0)
	return len(rest) == 0
}

// toEnd returns the number of bytes up to the end of the ring.
func (o *outbox) toEnd() uint64 { return o.c.Ring - o.at&(o.c.Ring-1) }

// hasRoom reports whether the target has read enough, as far as this PE knows, for n more bytes.
func (o *outbox) hasRoom(n uint64) bool { return o.at+n-o.head <= o.c.Ring }

// put sends a frame, for which there is room.
func (o *outbox) put(body []byte) {
	n := uint64(len(body))
	f := append(o.scratch[:0], make([]byte, frameHead)...)
	binary.LittleEndian.PutUint32(f, uint32(n))
	binary.LittleEndian.PutUint32(f[4:], sumOf(o.at, body))
	f = append(f, body...)
	o.scratch = f[:0]
	at := o.c.Base + o.c.ring(o.c.PE, o.slot) + o.at&(o.c.Ring-1)
	o.at += frameSize(n)
	o.via.PutSignal(o.to, at, f, o.control(tailWord), transport.Set, o.at)
}

// control returns the offset of a control word of o's ring.
func (o *outbox) control(word uint64) uint64 { return o.c.Base + o.c.control(o.c.PE, o.slot) + word }

// awaitRoom asks the target how far it has read until there is room for n bytes, and reports false if there is none. It
// waits only if it may.
func (o *outbox) awaitRoom(ctx context.Context, n uint64, wait bool) bool {
	for p := o.c.begin(); ; {
		head, err := o.via.Atomic(ctx, o.to, transport.Fetch, transport.Word{Off: o.control(headWord), Bytes: 8}, 0, 0)
		if err == nil && o.at-head <= o.c.Ring {
			o.head = head
		}
		if err == nil && o.hasRoom(n) {
			return true
		}
		if err != nil || !wait {
			if err != nil && ctx.Err() == nil {
				o.c.giveUp() // the target is lost: its detector has no use for records
			}
			return false
		}
		if !o.c.pause(ctx, &p, o.to) {
			return false
		}
	}
}

// tellLost tells the target that this PE has lost records, before the next operation.
func (o *outbox) tellLost() {
	if !o.lostTold {
		o.lostTold = true
		o.via.Post(o.to, transport.Set, transport.Word{Off: o.c.Base + o.c.control(o.c.PE, sharedSlot) + lostWord, Bytes: 8}, 1)
	}
}
