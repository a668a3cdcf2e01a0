package pgas

// Strided transfers: elements, or blocks of elements, at regular distances: a column of a matrix, the
// real parts of complex numbers, a face of a cube. A stride counts elements from the start of one block
// to the start of the next. It is never less than a block, so blocks do not overlap. The elements between
// blocks are neither read nor written.
//
// To a PE of this host a transfer is a loop of loads and stores. To another host small blocks travel packed, many
// in a message, and the target's service thread unpacks them; each large block travels as a put of its own.
//
// All transfers panic with *UsageError if a count is negative, a stride is less than a block, or the blocks do not
// fit the source or the destination.

import (
	"unsafe"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// IPut copies n elements: src[i*srcStride] to element i*dstStride of the range on pe. It is complete locally on
// return: src may be reused. The data is complete and visible at pe after a Quiet, and a Fence orders it, as with
// Put. IPut panics with *UsageError if the elements do not fit src or the range (OpenSHMEM 1.6, shmem_iput).
func (s Slice[T]) IPut(pe int, src []T, dstStride, srcStride, n int) {
	s.putBlocks("IPut", pe, src, dstStride, srcStride, 1, n)
}

// IPutNB copies as IPut does, and need not wait until src has been read. As with PutNB, the program must not change src
// until the LocalCompletion is Done, or until a QuietLocal or Quiet of the context returns (shmem_iput has no
// non-blocking form in OpenSHMEM 1.6).
func (s Slice[T]) IPutNB(pe int, src []T, dstStride, srcStride, n int) LocalCompletion {
	return s.putBlocksNB("IPutNB", pe, src, dstStride, srcStride, 1, n)
}

// IBPut copies n blocks of block elements each: the block that starts at src[i*srcStride] to the block that starts at
// element i*dstStride of the range on pe. It is complete locally on return: src may be reused. The data is complete and
// visible at pe after a Quiet, and a Fence orders it, as with Put. IBPut panics with *UsageError if the blocks overlap,
// or do not fit src or the range (OpenSHMEM 1.6, shmem_ibput).
func (s Slice[T]) IBPut(pe int, src []T, dstStride, srcStride, block, n int) {
	s.putBlocks("IBPut", pe, src, dstStride, srcStride, block, n)
}

// IBPutNB copies as IBPut does, and need not wait until src has been read: src is the operation's as that of IPutNB is.
func (s Slice[T]) IBPutNB(pe int, src []T, dstStride, srcStride, block, n int) LocalCompletion {
	return s.putBlocksNB("IBPutNB", pe, src, dstStride, srcStride, block, n)
}

// IGet copies n elements: element i*srcStride of the range on pe to dst[i*dstStride]. It blocks until they have
// arrived. It panics with *PeerError if pe is lost, and with *UsageError if the elements do not fit dst or the range
// (OpenSHMEM 1.6, shmem_iget).
func (s Slice[T]) IGet(pe int, dst []T, dstStride, srcStride, n int) {
	s.getBlocks("IGet", pe, dst, dstStride, srcStride, 1, n, true)
}

// IGetNB copies the elements that IGet copies, at some time before the next Quiet returns. Until then the program must
// neither read nor write dst. If pe is lost, the next Quiet reports it.
func (s Slice[T]) IGetNB(pe int, dst []T, dstStride, srcStride, n int) {
	s.getBlocks("IGetNB", pe, dst, dstStride, srcStride, 1, n, false)
}

// IBGet copies n blocks of block elements each: the block that starts at element i*srcStride of the range on pe to the
// block that starts at dst[i*dstStride]. It blocks until they have arrived. It panics with *PeerError if pe is lost,
// and with *UsageError if the blocks overlap, or do not fit dst or the range (OpenSHMEM 1.6, shmem_ibget).
func (s Slice[T]) IBGet(pe int, dst []T, dstStride, srcStride, block, n int) {
	s.getBlocks("IBGet", pe, dst, dstStride, srcStride, block, n, true)
}

// IBGetNB copies the blocks that IBGet copies, at some time before the next Quiet returns. Until then the program must
// neither read nor write dst. If pe is lost, the next Quiet reports it.
func (s Slice[T]) IBGetNB(pe int, dst []T, dstStride, srcStride, block, n int) {
	s.getBlocks("IBGetNB", pe, dst, dstStride, srcStride, block, n, false)
}

// putBlocks puts n blocks, by stores if the heap of pe is mapped in this process, otherwise through the transport.
func (s Slice[T]) putBlocks(op string, pe int, src []T, dstStride, srcStride, block, n int) {
	if !s.storeBlocks(op, pe, src, dstStride, srcStride, block, n) {
		s.ctx.putBlocks(op, pe, s.place(op), bytesOf(unsafe.SliceData(src), len(src)), blocksOf[T](srcStride, dstStride, block, n))
	}
}

// putBlocksNB puts n blocks as putBlocks does. A transport may read src later.
func (s Slice[T]) putBlocksNB(op string, pe int, src []T, dstStride, srcStride, block, n int) LocalCompletion {
	if s.storeBlocks(op, pe, src, dstStride, srcStride, block, n) {
		return LocalCompletion{}
	}
	return s.ctx.putBlocksNB(op, pe, s.place(op), keptBytesOf(unsafe.SliceData(src), len(src)), blocksOf[T](srcStride, dstStride, block, n))
}

// storeBlocks checks a put of n blocks, and does it by stores if the heap of pe is mapped in this process. It reports
// whether nothing is left to do.
func (s Slice[T]) storeBlocks(op string, pe int, src []T, dstStride, srcStride, block, n int) bool {
	checkBlocks(op, "destination", s.n, dstStride, block, n)
	checkBlocks(op, "source", len(src), srcStride, block, n)
	if p := s.ctx.addr(pe, s.off); p != nil {
		moveBlocks(unsafe.Slice((*T)(p), s.n), src, dstStride, srcStride, block, n)
		return true
	}
	return s.ctx.isNothing(op, block*n)
}

// getBlocks gets n blocks. With wait it blocks until they have arrived; otherwise they arrive before the next quiet
// returns.
func (s Slice[T]) getBlocks(op string, pe int, dst []T, dstStride, srcStride, block, n int, wait bool) {
	checkBlocks(op, "destination", len(dst), dstStride, block, n)
	checkBlocks(op, "source", s.n, srcStride, block, n)
	if p := s.ctx.addr(pe, s.off); p != nil {
		moveBlocks(dst, unsafe.Slice((*T)(p), s.n), dstStride, srcStride, block, n)
		return
	}
	if s.ctx.isNothing(op, block*n) {
		return
	}
	b := blocksOf[T](dstStride, srcStride, block, n)
	if wait {
		s.ctx.getBlocks(op, pe, bytesOf(unsafe.SliceData(dst), len(dst)), s.place(op), b)
	} else {
		s.ctx.getBlocksNB(op, pe, keptBytesOf(unsafe.SliceData(dst), len(dst)), s.place(op), b)
	}
}

// place returns the offset of s in the heap: see Context.place.
func (s Slice[T]) place(op string) uint64 {
	return s.ctx.place(op, s.off, uintptr(s.n)*node.SizeOf[T]())
}

// blocksOf returns the description in bytes of n blocks, whose strides are here elements in the memory of the program
// and there elements in the heap of the target. Blocks that are contiguous on both sides become one.
func blocksOf[T any](here, there, block, n int) transport.Strided {
	size := int(node.SizeOf[T]())
	if here == block && there == block || n == 1 {
		block, n = block*n, 1
		here, there = block, block
	}
	return transport.Strided{BlockBytes: block * size, Count: n, LocalStride: here * size, RemoteStride: there * size}
}

// moveBlocks copies n blocks from src to dst.
func moveBlocks[T any](dst, src []T, dstStride, srcStride, block, n int) {
	switch {
	case n == 0 || block == 0:
	case dstStride == block && srcStride == block:
		node.CopyLarge(dst[:n*block], src[:n*block])
	case block == 1:
		moveElements(dst, src, dstStride, srcStride, n)
	default:
		for ; n > 1; n-- {
			copy(dst[:block], src)
			dst, src = dst[dstStride:], src[srcStride:]
		}
		copy(dst[:block], src)
	}
}

// moveElements copies n single elements from src to dst. When one side is contiguous, the compiler needs to check
// the bounds of the other alone.
func moveElements[T any](dst, src []T, dstStride, srcStride, n int) {
	switch {
	case srcStride == 1:
		at := 0
		for _, v := range src[:n] {
			dst[at] = v
			at += dstStride
		}
	case dstStride == 1:
		at := 0
		dst = dst[:n]
		for i := range dst {
			dst[i] = src[at]
			at += srcStride
		}
	default:
		to, from := 0, 0
		for range n {
			dst[to] = src[from]
			to += dstStride
			from += srcStride
		}
	}
}

// checkBlocks panics with *UsageError unless n blocks of block elements, stride apart, fit the have elements of what.
func checkBlocks(op, what string, have, stride, block, n int) {
	if n < 0 || block < 0 || stride < max(block, 1) || n > 0 && block > 0 && (block > have || n-1 > (have-block)/stride) {
		badBlocks(op, what, have, stride, block, n)
	}
}

//go:noinline
func badBlocks(op, what string, have, stride, block, n int) {
	switch {
	case n < 0 || block < 0:
		misuse(op, "%s of %s: a count must not be negative", plural.Count(n, "block"), plural.Count(block, "element"))
	case stride < 1:
		misuse(op, "the stride of the %s is %d: strides count elements from the start of one block to the next, from 1 for contiguous ones", what, stride)
	case stride < block:
		misuse(op, "the stride of the %s is %d, so its blocks of %s would overlap: it must be at least %d", what, stride, plural.Count(block, "element"), block)
	}
	fit := 0
	if block <= have {
		fit = (have-block)/stride + 1
	}
	misuse(op, "%s of %s at a stride of %d do not fit the %s of the %s: %d would", plural.Count(n, "block"), plural.Count(block, "element"), stride, plural.Count(have, "element"), what, fit)
}

// putBlocks puts the blocks of src through the transport.
func (c *Context) putBlocks(op string, pe int, dst uint64, src []byte, b transport.Strided) {
	via, to := c.routeTo(op, pe)
	if b.Total() == 0 {
		return
	}
	if via.strided != nil && b.Count > 1 {
		via.strided.PutStrided(to, dst, src, b)
		return
	}
	for i := range b.Count {
		via.Put(to, dst+uint64(i*b.RemoteStride), src[i*b.LocalStride:][:b.BlockBytes])
	}
}

// putBlocksNB puts the blocks of src as putBlocks does, without a copy of src if the channel can do that.
func (c *Context) putBlocksNB(op string, pe int, dst uint64, src []byte, b transport.Strided) LocalCompletion {
	via, to := c.routeTo(op, pe)
	if via.zeroCopy == nil || b.Total() == 0 {
		c.putBlocks(op, pe, dst, src, b)
		return LocalCompletion{}
	}
	return LocalCompletion{ctx: c, via: via.zeroCopy, pe: to, handle: via.zeroCopy.PutStridedZcopy(to, dst, src, b)}
}

// getBlocks gets blocks through the transport and blocks until dst is filled. It panics with *PeerError if pe is lost.
func (c *Context) getBlocks(op string, pe int, dst []byte, src uint64, b transport.Strided) {
	via, to := c.routeTo(op, pe)
	if b.Total() == 0 {
		return
	}
	mark := c.w.n.Block(node.Blocked{Op: boot.InGet, Peer: to, Seq: src})
	var err error
	if via.strided != nil && b.Count > 1 {
		err = via.strided.GetStrided(c.w.n.Ctx, to, dst, src, b)
	} else {
		for i := 0; i < b.Count && err == nil; i++ {
			err = via.Get(c.w.n.Ctx, to, dst[i*b.LocalStride:][:b.BlockBytes], src+uint64(i*b.RemoteStride))
		}
	}
	c.w.n.Unblock(mark)
	if err != nil {
		panic(err)
	}
}

// getBlocksNB gets blocks through the transport. dst is filled when the next quiet returns.
func (c *Context) getBlocksNB(op string, pe int, dst []byte, src uint64, b transport.Strided) {
	via, to := c.routeTo(op, pe)
	if b.Total() == 0 {
		return
	}
	if via.strided != nil && b.Count > 1 {
		via.strided.GetStridedNB(to, dst, src, b)
		return
	}
	for i := range b.Count {
		via.GetNB(to, dst[i*b.LocalStride:][:b.BlockBytes], src+uint64(i*b.RemoteStride))
	}
}
