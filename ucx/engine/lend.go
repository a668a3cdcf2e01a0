//go:build cgo

package engine

// Puts whose source is lent until a later moment, as Go sees them.

/*
#cgo noescape lane_lend
#cgo nocallback lane_lend
#cgo noescape channel_returned
#cgo nocallback channel_returned
#include "engine.h"
*/
import "C"

import (
	"context"
	"sync/atomic"
	"unsafe"
)

// pinsKept is how many sources and destinations stay pinned after their time for want of a quiet.
const pinsKept = 64

// PutNB is Put that may go on reading src after it has returned: until the loan whose number it returns
// is over. It returns 0 if src may be reused at once. It waits only for room: no more is under way to one
// PE than the engine's bounds allow.
func (c *Channel) PutNB(pe int, dst uint64, src []byte) (loan uint64) {
	if len(src) <= C.SMALL_MAX {
		c.Put(pe, dst, src)
		return 0
	}
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	c.pinLent(src)
	loan = uint64(C.lane_lend(l, C.uint64_t(dst), (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint64_t(len(src))))
	c.unlock()
	return loan
}

// pinLent keeps a source in its place until its loan is over.
func (c *Channel) pinLent(src []byte) {
	if c.pinned >= pinsKept {
		c.unpin()
	}
	c.pins.Pin(&src[0])
	c.pinned++
	c.wake()
}

// Returned says, without waiting, whether a loan to pe is over.
func (c *Channel) Returned(pe int, loan uint64) bool {
	return loan == 0 || atomic.LoadUint64((*uint64)(&c.lanes[pe].returned)) >= loan
}

// AwaitReturned returns when a loan to pe is over, or all loans to every PE if pe < 0. What was put need
// not be complete then. It fails with the cause of ctx alone: a loan to a lost PE ends too.
func (c *Channel) AwaitReturned(ctx context.Context, pe int, loan uint64) error {
	if c.closed {
		return ErrClosed
	}
	if pe >= 0 && c.Returned(pe, loan) {
		return nil
	}
	c.engine.breathe()
	c.lock()
	defer c.unlock()
	for C.channel_returned(c.c, C.int64_t(pe), C.uint64_t(loan), C.int64_t(budget)) != C.ENGINE_DONE {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.relock()
	}
	if c.pinned > 0 {
		c.unpin()
	}
	return nil
}
