package pgas

// The allocator of the symmetric heap. Every PE runs its own copy on the same sequence of requests,
// so the offsets agree without any talk: it must be deterministic, and nothing else. First fit over
// free spans in address order, neighbours merged. The heap behind it is sparse: memory that was never
// touched costs nothing, so there is no growing to do and no size to choose beforehand.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas/boot"
)

// minAlign keeps blocks from sharing cache lines, so that neighbours do not slow each other down.
const minAlign = 64

// HeapUsage says how a symmetric heap is used. It is the same on every PE.
type HeapUsage struct {
	InUse  uint64 // bytes of live blocks, padding included
	High   uint64 // the most bytes from the heap's start that were ever in use
	Max    uint64 // what it may grow to: PGAS_HEAP_MAX
	Blocks int    // live blocks
}

type span struct{ off, n uint64 }

// A heap hands out spans of [ReservedBytes, max).
//
// Invariant: free is sorted by off, holds no empty span, and no two spans touch.
type heap struct {
	free []span
	live map[uint64]uint64 // offset of a block → its bytes
	use  HeapUsage
}

func newHeap(max uint64) *heap {
	return &heap{
		free: []span{{boot.ReservedBytes, max - boot.ReservedBytes}},
		live: map[uint64]uint64{},
		use:  HeapUsage{Max: max - boot.ReservedBytes, High: boot.ReservedBytes},
	}
}

// alloc returns the offset of n bytes at a multiple of align, and false if there is no such span.
func (h *heap) alloc(n, align uint64) (uint64, bool) {
	n = roundUp(max(n, 1), minAlign)
	align = max(align, minAlign)
	for i, s := range h.free {
		at := roundUp(s.off, align)
		if pad := at - s.off; pad > s.n || s.n-pad < n {
			continue
		}
		h.cut(i, at, n)
		h.live[at] = n
		h.use.InUse += n
		h.use.Blocks++
		h.use.High = max(h.use.High, at+n)
		return at, true
	}
	return 0, false
}

// cut takes [at, at+n) out of free span i.
func (h *heap) cut(i int, at, n uint64) {
	s := h.free[i]
	var rest []span
	if at > s.off {
		rest = append(rest, span{s.off, at - s.off})
	}
	if end := s.off + s.n; at+n < end {
		rest = append(rest, span{at + n, end - at - n})
	}
	h.free = slices.Replace(h.free, i, i+1, rest...)
}

// release gives the block at off back and returns its bytes.
func (h *heap) release(off uint64) uint64 {
	n := h.live[off]
	delete(h.live, off)
	h.use.InUse -= n
	h.use.Blocks--
	i, _ := slices.BinarySearchFunc(h.free, off, func(s span, off uint64) int {
		if s.off < off {
			return -1
		}
		return 1
	})
	s := span{off, n}
	lo, hi := i, i
	if i > 0 && h.free[i-1].off+h.free[i-1].n == off {
		lo, s = i-1, span{h.free[i-1].off, h.free[i-1].n + s.n}
	}
	if i < len(h.free) && s.off+s.n == h.free[i].off {
		hi, s.n = i+1, s.n+h.free[i].n
	}
	h.free = slices.Replace(h.free, lo, hi, s)
	return n
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }
