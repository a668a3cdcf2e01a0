//go:build cgo

package engine

// Notified access, as Go sees it. notes.c and note_queue.c say how it works.

/*
#cgo noescape lane_flush_awaited
#cgo nocallback lane_flush_awaited
#cgo noescape lane_await_note_credit
#cgo nocallback lane_await_note_credit
#cgo noescape lane_put_note
#cgo nocallback lane_put_note
#cgo noescape lane_put_note_zcopy
#cgo nocallback lane_put_note_zcopy
#cgo noescape lane_get_note
#cgo nocallback lane_get_note
#cgo noescape lane_get_note_wait
#cgo nocallback lane_get_note_wait
#cgo noescape engine_refill
#cgo nocallback engine_refill
#include "engine.h"
*/
import "C"

import (
	"context"
	"runtime"
	"time"
	"unsafe"
)

const (
	noteBytes    = recBytes + C.sizeof_struct_wire_post
	notesMax     = C.NOTES_MAX
	creditBudget = 200 * time.Microsecond // one stay in C while there is no room for a note
)

// Refill moves notes that found no room to the queue of this PE, which has some now.
func (e *Engine) Refill() { C.engine_refill(e.c) }

// hasNoteCredit reports whether the lane may have another note. Without credit it waits for some for a moment.
func (c *Channel) hasNoteCredit(l *C.lane_t) bool {
	return l.notes_sent-l.notes_credited < notesMax || C.lane_await_note_credit(l, C.int64_t(creditBudget)) != 0
}

func appendNote(pos unsafe.Pointer, tag uint32, n int, off uint64) {
	putRec(pos, C.REC_NOTE, 0, 0, tag, off)
	(*C.struct_wire_post)(unsafe.Add(pos, recBytes)).operand = C.uint64_t(n)
}

// PutNotify copies src to dst of pe and then leaves a note there, in the order of this channel's notes to
// pe. src may be empty, and may be reused on return. It reports false, having done nothing, if there is no
// room for a note there at the moment.
func (c *Channel) PutNotify(pe int, dst uint64, src []byte, tag uint32) bool {
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	ok := c.hasNoteCredit(l)
	switch n := len(src); {
	case !ok:
	case n > C.NOTE_SMALL_MAX:
		c.needService()
		C.lane_put_note(l, C.uint64_t(dst), (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint64_t(n), C.uint32_t(tag))
	default:
		c.gatherNote(l, dst, src, tag)
	}
	c.unlock()
	return ok
}

// gatherNote appends a put, unless it is empty, and its note, and lets them leave soon.
func (c *Channel) gatherNote(l *C.lane_t, dst uint64, src []byte, tag uint32) {
	n := len(src)
	put := 0
	c.orderMessage(l, dst, n)
	if n > 0 {
		put = recBytes + padded(n)
	}
	pos := c.reserveRecord(l, put+noteBytes)
	if pos == nil {
		return
	}
	if n > 0 {
		pos = appendPut(pos, dst, src)
		l.records++
	}
	appendNote(pos, tag, n, dst)
	l.records++
	l.notes_sent++
	C.lane_flush_awaited(l)
}

// PutNotifyZcopy does what PutNotify does, but may go on reading src, as PutZcopy.
func (c *Channel) PutNotifyZcopy(pe int, dst uint64, src []byte, tag uint32) (handle uint64, ok bool) {
	if len(src) <= C.NOTE_SMALL_MAX {
		return 0, c.PutNotify(pe, dst, src, tag)
	}
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	if ok = c.hasNoteCredit(l); ok {
		c.pinSource(src)
		handle = uint64(C.lane_put_note_zcopy(l, C.uint64_t(dst), (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint64_t(len(src)), C.uint32_t(tag)))
	}
	c.unlock()
	return handle, ok
}

// GetNotify fills dst from src of pe, and leaves a note there when it has been read. It fails as Get does,
// and reports false as PutNotify does.
func (c *Channel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, tag uint32) (bool, error) {
	if len(dst) == 0 {
		return c.PutNotify(pe, src, nil, tag), nil
	}
	c.engine.touchScheduler()
	if len(dst) > C.SLOT_BYTES {
		var pin runtime.Pinner
		pin.Pin(&dst[0])
		defer pin.Unpin()
	}
	var slot *C.slot_t
	c.check(pe)
	c.lock()
	defer c.unlock()
	l, err := c.laneForRequest(ctx, pe)
	if err != nil {
		return false, err
	}
	if !c.hasNoteCredit(l) {
		return false, nil
	}
	c.needService()
	r := C.lane_get_note_wait(l, C.uint64_t(src), (*C.char)(unsafe.Pointer(unsafe.SliceData(dst))), C.uint64_t(len(dst)), C.uint32_t(tag), C.int64_t(firstStay), &slot)
	if r == C.ENGINE_DONE {
		return true, nil
	}
	_, err = c.await(ctx, r, slot, dst)
	return true, err
}

// GetNotifyNB does what GetNotify does, at some time before Quiet returns without error.
func (c *Channel) GetNotifyNB(pe int, dst []byte, src uint64, tag uint32) bool {
	if len(dst) == 0 {
		return c.PutNotify(pe, src, nil, tag)
	}
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	ok := c.hasNoteCredit(l)
	if ok {
		c.pins.Pin(&dst[0])
		c.pinned++
		if l.used == headBytes {
			c.markDirty(l)
		}
		C.lane_get_note(l, C.uint64_t(src), (*C.char)(unsafe.Pointer(unsafe.SliceData(dst))), C.uint64_t(len(dst)), C.uint32_t(tag), 1)
		C.lane_flush_awaited(l)
	}
	c.unlock()
	return ok
}

// PostNotify applies op to the word of pe at off, as Post, and then leaves a note there. It reports false as
// PutNotify does.
func (c *Channel) PostNotify(pe int, op uint8, off uint64, bytes int, operand uint64, tag uint32) bool {
	c.check(pe)
	if c.engine.config.NICAtomics {
		return c.afterNIC(pe, off, bytes, tag, func() { c.Post(pe, op, off, bytes, operand) })
	}
	c.lock()
	l := c.lane(pe)
	ok := c.hasNoteCredit(l)
	if ok {
		c.orderMessage(l, off, bytes)
		if pos := c.reserveRecord(l, postBytes+noteBytes); pos != nil {
			appendPost(pos, op, bytes, off, operand)
			appendNote(unsafe.Add(pos, postBytes), tag, bytes, off)
			l.records += 2
			l.notes_sent++
			C.lane_flush_awaited(l)
		}
	}
	c.unlock()
	return ok
}

// FetchNotify applies op to the word of pe at off, as Fetch, and then leaves a note there. It fails as Fetch
// does, and reports false as PutNotify does.
func (c *Channel) FetchNotify(ctx context.Context, pe int, op uint8, off uint64, bytes int, operand, cond uint64, tag uint32) (v uint64, ok bool, err error) {
	c.check(pe)
	if c.engine.config.NICAtomics {
		ok = c.afterNIC(pe, off, bytes, tag, func() { v, err = c.Fetch(ctx, pe, op, off, bytes, operand, cond) })
		return v, ok, err
	}
	args := wordArgs(op, off, bytes, operand, cond)
	args.notified, args.tag = 1, C.uint32_t(tag)
	c.engine.touchScheduler()
	var old C.uint64_t
	var slot *C.slot_t
	c.lock()
	defer c.unlock()
	l, err := c.laneForRequest(ctx, pe)
	if err != nil {
		return 0, false, err
	}
	if !c.hasNoteCredit(l) {
		return 0, false, nil
	}
	c.needService()
	r := C.lane_fetch(l, &args, C.int64_t(firstStay), &old, &slot)
	if r == C.ENGINE_DONE {
		return uint64(old), true, nil
	}
	v, err = c.await(ctx, r, slot, nil)
	return v, true, err
}

// afterNIC leaves the note of an atomic that UCX itself carries out: when that is complete.
func (c *Channel) afterNIC(pe int, off uint64, bytes int, tag uint32, atomic func()) bool {
	c.lock()
	ok := c.hasNoteCredit(c.lane(pe))
	c.unlock()
	if !ok {
		return false
	}
	atomic()
	c.Fence(pe)
	c.lock()
	l := c.lane(pe)
	if pos := c.reserveRecord(l, noteBytes); pos != nil {
		appendNote(pos, tag, bytes, off)
		l.records++
		l.notes_sent++
		C.lane_flush_awaited(l)
	}
	c.unlock()
	return true
}
