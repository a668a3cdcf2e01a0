//go:build cgo

package engine

// A channel, as Go sees it: Go appends small operations to a lane's buffer, and all else is one
// call of C.
//
// The lock is a word in C memory, because the service thread takes it too (by trying), to let out what
// has been gathered. A channel that goroutines share has a mutex before it. A goroutine that waits in C holds both.
// The word want tells it that another goroutine would like to issue something. Then it returns from C, lets that
// goroutine in, and waits on.

/*
#cgo noescape channel_kick
#cgo nocallback channel_kick
#cgo noescape channel_renew
#cgo nocallback channel_renew
#cgo noescape channel_quiet
#cgo nocallback channel_quiet
#cgo noescape channel_await
#cgo nocallback channel_await
#cgo noescape lane_flush
#cgo nocallback lane_flush
#cgo noescape lane_drain_service
#cgo nocallback lane_drain_service
#cgo noescape lane_put
#cgo nocallback lane_put
#cgo noescape lane_get
#cgo nocallback lane_get
#cgo noescape lane_get_wait
#cgo nocallback lane_get_wait
#cgo noescape lane_fetch
#cgo nocallback lane_fetch
#cgo noescape lane_fence
#cgo nocallback lane_fence
#cgo noescape order_message
#cgo nocallback order_message
#cgo noescape lane_nic
#cgo nocallback lane_nic
#cgo noescape slot_bounce
#cgo nocallback slot_bounce
#cgo noescape slot_deliver
#cgo nocallback slot_deliver
#cgo noescape slot_abandon
#cgo nocallback slot_abandon
#cgo noescape slot_release
#cgo nocallback slot_release
#include <stdlib.h>
#include <ucs/type/status.h>
#include "engine.h"
*/
import "C"

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

const (
	headBytes = C.sizeof_struct_wire_head
	recBytes  = C.sizeof_struct_wire_rec
	postBytes = recBytes + C.sizeof_struct_wire_post
	wordSet   = C.WORD_SET
	wordAdd   = C.WORD_ADD

	firstStay = time.Millisecond     // the first stay of a wait in C
	lastStay  = 8 * time.Millisecond // the longest
)

// stays are how long the stays of one wait in C may be: each twice as long as the one before. A long wait wakes up less
// often, and leaves the CPU to the PEs that it waits for.
type stays struct{ last time.Duration }

func (s *stays) next() C.int64_t {
	s.last = min(max(2*s.last, firstStay), lastStay)
	return C.int64_t(s.last)
}

// Channel is an ordering and completion domain. Operations to one PE take effect there in the order in
// which they were issued; two channels order nothing for each other.
type Channel struct {
	engine  *Engine
	c       *C.channel_t
	word    *uint32 // channel.lock
	want    *uint32
	asleep  *uint32
	dirty   *uint32
	shared  bool
	mu      sync.Mutex  // if the channel is shared, locked before word
	lanes   []*C.lane_t // lanes by PE; a lane is nil until it is used, and again when it is no longer connected
	ever    []*C.lane_t // lanes by PE; a lane is nil until it is used for the first time
	connect func(pe int) []byte
	closed  bool              // what c points to is gone
	outside *C.struct_outside // the thread that has the channel, if it is not Go's; nil otherwise
	native  bool              // a fence has something to do: not everything goes through one lane in order
	small   int               // size up to which puts are gathered

	pendingFetches []pendingFetch // old values on their way, in the order in which they were asked for

	pins   runtime.Pinner // destinations of detached gets
	pinned int
}

// Channel opens a channel. A private one is for one goroutine at a time. connect returns the address of a
// PE's engine, or nil if it cannot be had; it is called when the channel connects to that PE, on first use. A channel
// keeps Config.Connections connections at most: renew.c says how.
// It fails with ErrClosed, if UCX cannot make a worker, and with an error that names ulimit -n if file descriptors are
// short.
func (e *Engine) Channel(private bool, connect func(pe int) []byte) (*Channel, error) {
	return e.channel(private, connect, min(cmp.Or(e.config.Peers, e.config.NPEs), e.config.Connections))
}

// channel is Channel for one that keeps so many connections.
func (e *Engine) channel(private bool, connect func(pe int) []byte, connections int) (*Channel, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	if err := enoughFiles(connections); err != nil {
		return nil, err
	}
	var msg [256]C.char
	cc := C.channel_open(e.c, &msg[0], C.size_t(len(msg)))
	if cc == nil {
		return nil, errors.New(C.GoString(&msg[0]))
	}
	c := &Channel{
		engine:  e,
		c:       cc,
		word:    (*uint32)(&cc.lock),
		want:    (*uint32)(&cc.want),
		asleep:  (*uint32)(&cc.asleep),
		dirty:   (*uint32)(&cc.dirty),
		shared:  !private,
		lanes:   make([]*C.lane_t, e.config.NPEs),
		ever:    make([]*C.lane_t, e.config.NPEs),
		connect: connect,
		native:  e.config.RMA != AM || e.config.NICAtomics,
		small:   C.SMALL_MAX,
	}
	if e.config.RMA == Native {
		c.small = 0
	}
	e.channels[c] = struct{}{}
	return c, nil
}

// Close closes the channel. What it has not completed may be lost.
func (c *Channel) Close() error {
	c.engine.mu.Lock()
	_, open := c.engine.channels[c]
	delete(c.engine.channels, c)
	c.engine.mu.Unlock()
	if !open {
		return nil
	}
	if c.outside != nil {
		C.outside_end(c.outside)
	}
	c.lock()
	c.closed = true
	c.unlock()
	C.channel_close(c.c)
	c.pendingFetches = nil
	c.pins.Unpin()
	return nil
}

// lock takes the channel to issue something.
func (c *Channel) lock() {
	if c.shared && !c.mu.TryLock() {
		c.lockBusy()
	}
	if !atomic.CompareAndSwapUint32(c.word, 0, 1) {
		c.lockTicking()
	}
}

//go:noinline
func (c *Channel) lockBusy() {
	atomic.AddUint32(c.want, 1)
	if atomic.LoadUint32(c.asleep) != 0 {
		C.channel_kick(c.c)
	}
	c.mu.Lock()
	atomic.AddUint32(c.want, ^uint32(0))
}

// lockTicking waits for the service thread's tick, which takes a few microseconds. It takes longer if the thread has
// lost its CPU, or while UCX connects in the tick.
//
//go:noinline
func (c *Channel) lockTicking() {
	const yields, nap = 64, 50 * time.Microsecond
	for i := 0; !atomic.CompareAndSwapUint32(c.word, 0, 1); i++ {
		switch {
		case i > yields || i%4 == 3 && C.contended(c.engine.c) != 0:
			time.Sleep(nap)
		case i%4 == 3:
			C.engine_yield(c.engine.c)
		default:
			runtime.Gosched()
		}
	}
}

func (c *Channel) unlock() {
	atomic.StoreUint32(c.word, 0)
	if c.shared {
		c.mu.Unlock()
	}
}

// relock takes the channel again to go on waiting: goroutines that want to issue something go first.
func (c *Channel) relock() {
	c.unlock()
	runtime.Gosched()
	if c.shared {
		c.mu.Lock()
	}
	if !atomic.CompareAndSwapUint32(c.word, 0, 1) {
		c.lockTicking()
	}
}

// deliver passes an answer to the channel as if it had come by the network, and returns the number of completed
// operations.
func (c *Channel) deliver(message []byte) int {
	c.lock()
	defer c.unlock()
	return int(C.channel_deliver(c.c, unsafe.Pointer(unsafe.SliceData(message)), C.size_t(len(message))))
}

// check panics if there is no such PE, before the lock is taken.
func (c *Channel) check(pe int) {
	if uint(pe) >= uint(len(c.lanes)) {
		panicPE(pe, len(c.lanes))
	}
}

func panicPE(pe, npes int) {
	panic(fmt.Sprintf("engine: PE %d is not in a job of %d", pe, npes))
}

// lane returns the lane to pe; the channel is locked.
func (c *Channel) lane(pe int) *C.lane_t {
	if l := c.lanes[pe]; l != nil {
		return l
	}
	return c.open(pe)
}

// laneForRequest returns the lane to pe when a request may be sent by it, which must not overtake what went by the
// service lane (lane_drain_service). While it waits for the target to apply that, ctx can end it and other goroutines
// get the channel.
func (c *Channel) laneForRequest(ctx context.Context, pe int) (*C.lane_t, error) {
	l := c.lane(pe)
	if int32(l.acked-l.service_lane_seq) >= 0 {
		return l, nil
	}
	return c.drainService(ctx, pe)
}

//go:noinline
func (c *Channel) drainService(ctx context.Context, pe int) (*C.lane_t, error) {
	for stays := (stays{}); ; c.relock() {
		l := c.lane(pe) // the channel may have been renewed
		if C.lane_drain_service_for(l, stays.next()) != 0 {
			return l, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

//go:noinline
func (c *Channel) open(pe int) *C.lane_t {
	if c.outside == nil && c.c.connected >= c.c.renew_at && C.channel_renew(c.c) != 0 {
		clear(c.lanes)
	}
	var pos unsafe.Pointer
	var n C.size_t
	if address := c.connect(pe); address != nil {
		pos, n = C.CBytes(address), C.size_t(len(address))
		defer C.free(pos)
	}
	l := C.lane_open(c.c, C.uint32_t(pe), pos, n)
	if l == nil {
		panic("engine: out of memory")
	}
	c.lanes[pe] = l
	if c.ever[pe] == nil { // a lane lives as long as its channel
		c.ever[pe] = l
	}
	return l
}

// markDirty notes that the lane has something that must leave in the end.
func (c *Channel) markDirty(l *C.lane_t) {
	l.born = C.uint64_t(atomic.LoadUint64(c.engine.ticks))
	if atomic.LoadUint32(c.dirty) == 0 {
		c.wakeService()
	}
}

// wakeService marks the channel dirty, and wakes the service thread if it sleeps deeply. The store to dirty comes
// before the load of deep. The service thread stores deep before it loads dirty. So one of the two sees the store of
// the other.
//
//go:noinline
func (c *Channel) wakeService() {
	atomic.StoreUint32(c.dirty, 1)
	if atomic.LoadUint32(c.engine.deep) != 0 {
		C.engine_kick(c.engine.c)
	}
}

// reserveRecord returns n bytes at the end of the lane's buffer, or nil if the lane is lost.
func (c *Channel) reserveRecord(l *C.lane_t, n int) unsafe.Pointer {
	if int(l.used)+n > C.BUFFER_BYTES {
		C.lane_flush(l)
	}
	if l.status != C.UCS_OK {
		l.lost = 1
		return nil
	}
	if l.used == headBytes {
		c.markDirty(l)
	}
	pos := unsafe.Pointer(&l.out.data[l.used])
	l.used += C.uint32_t(n)
	return pos
}

func putRec(pos unsafe.Pointer, kind, op, bytes uint8, n uint32, off uint64) {
	rec := (*C.struct_wire_rec)(pos)
	rec.kind, rec.op, rec.bytes, rec.zero = C.uint8_t(kind), C.uint8_t(op), C.uint8_t(bytes), 0
	rec.n, rec.off = C.uint32_t(n), C.uint64_t(off)
}

func appendPut(pos unsafe.Pointer, dst uint64, src []byte) unsafe.Pointer {
	putRec(pos, C.REC_PUT, 0, 0, uint32(len(src)), dst)
	pos = unsafe.Add(pos, recBytes)
	if len(src) == 8 {
		*(*uint64)(pos) = *(*uint64)(unsafe.Pointer(unsafe.SliceData(src)))
	} else {
		copy(unsafe.Slice((*byte)(pos), len(src)), src)
	}
	return unsafe.Add(pos, padded(len(src)))
}

func appendPost(pos unsafe.Pointer, op uint8, bytes int, off, operand uint64) {
	putRec(pos, C.REC_POST, op, uint8(bytes), 0, off)
	(*C.struct_wire_post)(unsafe.Add(pos, recBytes)).operand = C.uint64_t(operand)
}

func padded(n int) int { return (n + 7) &^ 7 }

// orderMessage waits, before a gathered record that writes n bytes at off, for native operations on the same bytes.
func (c *Channel) orderMessage(l *C.lane_t, off uint64, n int) {
	if n > 0 && c.native && (l.use_native > 0 || c.engine.config.NICAtomics) {
		C.order_message(l, C.uint64_t(off), C.uint64_t(n), 1)
	}
}

// Put copies src to dst of pe. src may be reused on return; it is complete there after Quiet.
func (c *Channel) Put(pe int, dst uint64, src []byte) {
	if len(src) == 0 {
		return
	}
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	if len(src) > c.small {
		c.putLarge(l, dst, src, C.WORD_FETCH, 0, 0)
		c.unlock()
		return
	}
	c.orderMessage(l, dst, len(src))
	if pos := c.reserveRecord(l, recBytes+padded(len(src))); pos != nil {
		appendPut(pos, dst, src)
		l.records++
	}
	c.unlock()
}

// PutSignal copies src to dst of pe and then updates the 8-byte word at sig: a PE that sees the signal
// sees src. op is a transport.Op, Set or Add. src may be empty, and may be reused on return.
func (c *Channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op uint8, value uint64) {
	if c.engine.config.NICAtomics {
		// The signal is an atomic like others, in the NIC's domain, and must find its payload complete.
		c.Put(pe, dst, src)
		c.Fence(pe)
		c.Post(pe, op, sig, 8, value)
		return
	}
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	c.orderMessage(l, dst, len(src))
	c.orderMessage(l, sig, 8)
	first := l.used == headBytes
	switch n := len(src); {
	case n > C.SMALL_MAX:
		c.putLarge(l, dst, src, op, sig, value)
		first = false
	case n > 0:
		if pos := c.reserveRecord(l, recBytes+padded(n)+postBytes); pos != nil {
			appendPost(appendPut(pos, dst, src), op, 8, sig, value)
			l.records += 2
		}
	default:
		if pos := c.reserveRecord(l, postBytes); pos != nil {
			appendPost(pos, op, 8, sig, value)
			l.records++
		}
	}
	// The target is likely to wait for it. This PE's next wait would let it leave, unless that is for a PE of its own
	// host.
	if first && (!c.engine.config.Alone || l.sent == l.acked) {
		C.lane_flush_awaited(l)
	}
	c.unlock()
}

func (c *Channel) putLarge(l *C.lane_t, dst uint64, src []byte, op uint8, sig, value uint64) {
	if atomic.LoadUint32(c.dirty) == 0 {
		c.wakeService()
	}
	C.lane_put(l, C.uint64_t(dst), (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint64_t(len(src)), C.uint32_t(op), C.uint64_t(sig), C.uint64_t(value))
}

// Post applies op to the word of pe at off; it is complete there after Quiet.
func (c *Channel) Post(pe int, op uint8, off uint64, bytes int, operand uint64) {
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	if c.engine.config.NICAtomics {
		c.needService()
		args := wordArgs(op, off, bytes, operand, 0)
		C.lane_nic(l, &args, nil)
		c.unlock()
		return
	}
	c.orderMessage(l, off, bytes)
	if pos := c.reserveRecord(l, postBytes); pos != nil {
		appendPost(pos, op, bytes, off, operand)
		l.records++
	}
	c.unlock()
}

// Fetch applies op to the word of pe at off and returns its old value. It fails with a *LostError, or
// with the cause of ctx; whether the operation took effect is then unknown.
func (c *Channel) Fetch(ctx context.Context, pe int, op uint8, off uint64, bytes int, operand, cond uint64) (uint64, error) {
	args := wordArgs(op, off, bytes, operand, cond)
	c.engine.touchScheduler()
	var old C.uint64_t
	var slot *C.slot_t
	c.check(pe)
	c.lock()
	l, err := c.laneForRequest(ctx, pe)
	if err != nil {
		c.unlock()
		return 0, err
	}
	c.needService()
	var r C.int
	if c.engine.config.NICAtomics {
		r = C.lane_nic(l, &args, &old)
	} else {
		r = C.lane_fetch(l, &args, C.int64_t(firstStay), &old, &slot)
	}
	if r == C.ENGINE_DONE {
		c.unlock()
		return uint64(old), nil
	}
	v, err := c.await(ctx, r, slot, nil)
	c.unlock()
	return v, err
}

func wordArgs(op uint8, off uint64, bytes int, operand, cond uint64) C.struct_word_args {
	return C.struct_word_args{off: C.uint64_t(off), operand: C.uint64_t(operand), cond: C.uint64_t(cond), op: C.uint32_t(op), bytes: C.uint32_t(bytes)}
}

// Fence orders what has been issued to pe (to every PE if pe < 0) before what will be. Active messages to
// one PE are in order as they are; only what UCX does itself, with a NIC, must be waited for.
func (c *Channel) Fence(pe int) {
	if !c.native || c.closed {
		return
	}
	if pe >= 0 {
		c.check(pe)
	}
	c.lock()
	for i, l := range c.lanes {
		if l != nil && (pe < 0 || pe == i) && (l.use_native > 0 || c.engine.config.NICAtomics) {
			C.lane_fence(l)
		}
	}
	c.unlock()
}

// needService marks the channel dirty because something is about to leave.
func (c *Channel) needService() {
	if atomic.LoadUint32(c.dirty) == 0 {
		c.wakeService()
	}
}

// await waits for a slot that was not answered at once, fills dst with what is not there yet, and
// releases it. dst moves with the stack if it is on it, so C may not keep its address between two calls.
func (c *Channel) await(ctx context.Context, r C.int, slot *C.slot_t, dst []byte) (uint64, error) {
	stays := stays{last: firstStay}
	for r == C.ENGINE_AGAIN || r == C.ENGINE_WANTED {
		if ctx.Err() != nil {
			C.slot_abandon(c.c, slot)
			return 0, context.Cause(ctx)
		}
		if len(dst) > 0 && C.slot_bounce(slot, (*C.char)(unsafe.Pointer(unsafe.SliceData(dst)))) == 0 {
			panic("engine: out of memory")
		}
		c.relock()
		r = C.channel_await(c.c, slot, stays.next())
	}
	if r == C.ENGINE_LOST {
		return 0, c.lostError()
	}
	if len(dst) > 0 {
		C.slot_deliver(slot, (*C.char)(unsafe.Pointer(unsafe.SliceData(dst))))
	}
	v := uint64(slot.value)
	C.slot_release(c.c, slot)
	return v, nil
}

// Get fills dst from src of pe. It fails with a *LostError, or with the cause of ctx; dst is then
// undefined, but nothing writes to it any more.
//
// A lane asks for a limited number of bytes at a time, and C waits for answers before it asks for more. So Get asks for
// no more than that at once: while it waits, ctx can end it and reports show it.
func (c *Channel) Get(ctx context.Context, pe int, dst []byte, src uint64) error {
	for len(dst) > C.GET_BYTES_MAX {
		if err := c.getPart(ctx, pe, dst[:C.GET_BYTES_MAX], src); err != nil {
			return err
		}
		dst, src = dst[C.GET_BYTES_MAX:], src+C.GET_BYTES_MAX
	}
	if len(dst) == 0 {
		return nil
	}
	return c.getPart(ctx, pe, dst, src)
}

// getPart fills dst, which a lane can ask for at once.
func (c *Channel) getPart(ctx context.Context, pe int, dst []byte, src uint64) error {
	c.engine.touchScheduler()
	if len(dst) > C.SLOT_BYTES {
		var pin runtime.Pinner
		pin.Pin(&dst[0])
		defer pin.Unpin()
	}
	var slot *C.slot_t
	c.check(pe)
	c.lock()
	l, err := c.laneForRequest(ctx, pe)
	if err != nil {
		c.unlock()
		return err
	}
	c.needService()
	r := C.lane_get_wait(l, C.uint64_t(src), (*C.char)(unsafe.Pointer(unsafe.SliceData(dst))), C.uint64_t(len(dst)), C.int64_t(firstStay), &slot)
	if r != C.ENGINE_DONE {
		_, err = c.await(ctx, r, slot, dst)
	}
	c.unlock()
	return err
}

// GetNB fills dst from src of pe at some time before Quiet returns without error.
func (c *Channel) GetNB(pe int, dst []byte, src uint64) {
	if len(dst) == 0 {
		return
	}
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	c.pins.Pin(&dst[0])
	c.pinned++
	if l.used == headBytes {
		c.markDirty(l)
	}
	C.lane_get(l, C.uint64_t(src), (*C.char)(unsafe.Pointer(unsafe.SliceData(dst))), C.uint64_t(len(dst)), 1)
	c.unlock()
}

// Quiet returns when everything issued to pe (to every PE if pe < 0) has taken effect there, and every
// GetNB has filled its destination. It fails with the cause of ctx, with ErrClosed, or with a *LostError: once
// something issued to pe (to any PE if pe < 0) could not be completed, every Quiet fails with it. So each goroutine
// learns that it may have been its own operation.
func (c *Channel) Quiet(ctx context.Context, pe int) error {
	if c.closed {
		return ErrClosed
	}
	if pe >= 0 {
		c.check(pe)
	}
	c.engine.touchScheduler()
	c.lock()
	defer c.unlock()
	for stays := (stays{}); ; {
		r := C.channel_quiet(c.c, C.int64_t(pe), stays.next())
		if len(c.pendingFetches) > 0 {
			c.harvest()
		}
		switch r {
		case C.ENGINE_DONE:
			if c.pinned > 0 {
				c.unpin()
			}
			return nil
		case C.ENGINE_LOST:
			return c.lostError()
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.relock()
	}
}

// unpin unpins destinations and sources, once no get and no handle is open on any lane.
func (c *Channel) unpin() {
	for _, l := range c.lanes {
		if l != nil && (l.detached > 0 || l.zcopy_released != l.zcopy_issued) {
			return
		}
	}
	c.pins.Unpin()
	c.pinned = 0
}

func (c *Channel) lostError() error { return lostError(int(c.c.lost_pe), int32(c.c.lost_status)) }

func lostError(pe int, status int32) error {
	why := C.ucs_status_t(status)
	e := &LostError{PE: pe, Status: C.GoString(C.ucs_status_string(why)), Reason: Broken}
	switch why {
	case C.UCS_ERR_CONNECTION_RESET, C.UCS_ERR_REJECTED, C.UCS_ERR_IO_ERROR, C.UCS_ERR_CANCELED:
		e.Reason = Gone
	case C.UCS_ERR_NOT_CONNECTED, C.UCS_ERR_ENDPOINT_TIMEOUT:
		e.Reason = Cut
	case C.UCS_ERR_TIMED_OUT:
		e.Reason = Silent
	case C.UCS_ERR_UNREACHABLE, C.UCS_ERR_NO_DEVICE:
		e.Reason = Unreachable
	case C.UCS_ERR_NO_ELEM:
		e.Reason = Unknown
	case C.UCS_ERR_EXCEEDS_LIMIT:
		e.Reason = Spent
	case C.UCS_ERR_OUT_OF_RANGE:
		e.Reason = Refused
	}
	return e
}
