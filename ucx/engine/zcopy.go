//go:build cgo

package engine

// Zero-copy puts, as Go sees them.

/*
#cgo noescape lane_put_zcopy
#cgo nocallback lane_put_zcopy
#cgo noescape channel_await_released
#cgo nocallback channel_await_released
#include "engine.h"
*/
import "C"

import (
	"context"
	"sync/atomic"
	"unsafe"
)

// maxPinned is the number of sources and destinations that may stay pinned after their release, until a quiet.
const maxPinned = 64

// PutZcopy does what Put does, but may go on reading src after it has returned: until the handle that it returns is
// released. It returns 0 if src may be reused at once. It waits only for room: no more is under way to one
// PE than the engine's bounds allow.
func (c *Channel) PutZcopy(pe int, dst uint64, src []byte) (handle uint64) {
	if len(src) <= C.SMALL_MAX {
		c.Put(pe, dst, src)
		return 0
	}
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	c.pinSource(src)
	handle = uint64(C.lane_put_zcopy(l, C.uint64_t(dst), (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint64_t(len(src))))
	c.unlock()
	return handle
}

// pinSource pins a source until its handle is released.
func (c *Channel) pinSource(src []byte) {
	if c.pinned >= maxPinned {
		c.unpin()
	}
	c.pins.Pin(&src[0])
	c.pinned++
	c.needService()
}

// Released reports, without waiting, whether a handle to pe is released.
func (c *Channel) Released(pe int, handle uint64) bool {
	return handle == 0 || atomic.LoadUint64((*uint64)(&c.ever[pe].zcopy_released)) >= handle
}

// AwaitReleased returns when a handle to pe is released, or all handles to every PE if pe < 0. The puts need not be
// complete then. It fails with the cause of ctx, or ErrClosed; a handle to a lost PE is released too.
func (c *Channel) AwaitReleased(ctx context.Context, pe int, handle uint64) error {
	if c.closed {
		return ErrClosed
	}
	if pe >= 0 && c.Released(pe, handle) {
		return nil
	}
	c.engine.touchScheduler()
	c.lock()
	defer c.unlock()
	for stays := (stays{}); C.channel_await_released(c.c, C.int64_t(pe), C.uint64_t(handle), stays.next()) != C.ENGINE_DONE; {
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
