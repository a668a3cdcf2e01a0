//go:build cgo

package engine

// Strided transfers, as Go sees them: one call of C each.

/*
#cgo noescape lane_put_blocks
#cgo nocallback lane_put_blocks
#cgo noescape lane_get_blocks
#cgo nocallback lane_get_blocks
#cgo noescape lane_get_blocks_wait
#cgo nocallback lane_get_blocks_wait
#include "engine.h"
*/
import "C"

import (
	"context"
	"runtime"
	"unsafe"
)

func (b Strided) empty() bool { return b.BlockBytes == 0 || b.Count == 0 }

func (b Strided) c() C.struct_strided {
	return C.struct_strided{bytes: C.uint64_t(b.BlockBytes), count: C.uint64_t(b.Count), local_stride: C.uint64_t(b.LocalStride), remote_stride: C.uint64_t(b.RemoteStride)}
}

// PutStrided copies the blocks of src to those from dst of pe on. src may be reused on return; they are
// complete there after Quiet.
func (c *Channel) PutStrided(pe int, dst uint64, src []byte, b Strided) {
	if b.empty() {
		return
	}
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	c.needService()
	C.lane_put_blocks(l, C.uint64_t(dst), (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), b.c())
	c.unlock()
}

// GetStrided fills the blocks of dst from those from src of pe on, and nothing between them. It fails as
// Get does.
func (c *Channel) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b Strided) error {
	if b.empty() {
		return nil
	}
	c.engine.touchScheduler()
	var pin runtime.Pinner
	pin.Pin(&dst[0])
	defer pin.Unpin()
	var slot *C.slot_t
	c.check(pe)
	c.lock()
	l, err := c.laneForRequest(ctx, pe)
	if err != nil {
		c.unlock()
		return err
	}
	c.needService()
	r := C.lane_get_blocks_wait(l, C.uint64_t(src), (*C.char)(unsafe.Pointer(unsafe.SliceData(dst))), b.c(), C.int64_t(firstStay), &slot)
	if r != C.ENGINE_DONE {
		_, err = c.await(ctx, r, slot, dst)
	}
	c.unlock()
	return err
}

// GetStridedNB does what GetStrided does, at some time before Quiet returns without error.
func (c *Channel) GetStridedNB(pe int, dst []byte, src uint64, b Strided) {
	if b.empty() {
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
	C.lane_get_blocks(l, C.uint64_t(src), (*C.char)(unsafe.Pointer(unsafe.SliceData(dst))), b.c(), 1)
	c.unlock()
}
