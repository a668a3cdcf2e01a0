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

func (b Blocks) empty() bool { return b.Bytes == 0 || b.Count == 0 }

func (b Blocks) c() C.struct_blocks {
	return C.struct_blocks{bytes: C.uint64_t(b.Bytes), count: C.uint64_t(b.Count), here: C.uint64_t(b.Here), there: C.uint64_t(b.There)}
}

// PutBlocks copies the blocks of src to those from dst of pe on. src may be reused on return; they are
// complete there after Quiet.
func (c *Channel) PutBlocks(pe int, dst uint64, src []byte, b Blocks) {
	if b.empty() {
		return
	}
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	c.wake()
	C.lane_put_blocks(l, C.uint64_t(dst), (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), b.c())
	c.unlock()
}

// GetBlocks fills the blocks of dst from those from src of pe on, and nothing between them. It fails as
// Get does.
func (c *Channel) GetBlocks(ctx context.Context, pe int, dst []byte, src uint64, b Blocks) error {
	if b.empty() {
		return nil
	}
	c.engine.breathe()
	var pin runtime.Pinner
	pin.Pin(&dst[0])
	defer pin.Unpin()
	var slot *C.slot_t
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	c.wake()
	r := C.lane_get_blocks_wait(l, C.uint64_t(src), (*C.char)(unsafe.Pointer(unsafe.SliceData(dst))), b.c(), C.int64_t(budget), &slot)
	var err error
	if r != C.ENGINE_DONE {
		_, err = c.await(ctx, r, slot, dst)
	}
	c.unlock()
	return err
}

// GetBlocksNB is GetBlocks at some time before Quiet returns without error.
func (c *Channel) GetBlocksNB(pe int, dst []byte, src uint64, b Blocks) {
	if b.empty() {
		return
	}
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	c.pins.Pin(&dst[0])
	c.pinned++
	if l.used == headBytes {
		c.soil(l)
	}
	C.lane_get_blocks(l, C.uint64_t(src), (*C.char)(unsafe.Pointer(unsafe.SliceData(dst))), b.c(), 1)
	c.unlock()
}
