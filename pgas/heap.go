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
// A guarded heap gives each block whole pages and leaves one free behind it, and does not reuse released blocks
// until nothing else is free. It reuses the oldest first.
//
// Invariant: free is sorted by off, holds no empty span, and no two spans touch.
type heap struct {
	free []span
	live map[uint64]room // by the offset of a block
	use  HeapUsage

	guard bool
	idle  []span // released and not yet free, the oldest first
}

// room is the size of a live block: asked for, and taken in the heap.
type room struct{ bytes, taken uint64 }

func newHeap(max uint64) *heap {
	return &heap{
		free: []span{{boot.ReservedBytes, max - boot.ReservedBytes}},
		live: map[uint64]room{},
		use:  HeapUsage{Max: max - boot.ReservedBytes, High: boot.ReservedBytes},
	}
}

// guarded makes h a guarded heap. Call it before the first alloc.
func (h *heap) guarded() { h.guard = true }

// alloc returns the offset of n bytes at a multiple of align, and false if there is no such span.
func (h *heap) alloc(n, align uint64) (uint64, bool) {
	n = roundUp(max(n, 1), minAlign)
	taken, align := n, max(align, minAlign)
	if h.guard {
		taken, align = roundUp(n, boot.PageBytes)+boot.PageBytes, max(align, boot.PageBytes)
	}
	for {
		if at, ok := h.fit(n, taken, align); ok || len(h.idle) == 0 {
			return at, ok
		}
		s := h.idle[0]
		h.idle = h.idle[1:]
		h.merge(s)
	}
}

// fit allocates as alloc does, but never reuses idle blocks.
func (h *heap) fit(n, taken, align uint64) (uint64, bool) {
	for i, s := range h.free {
		at := roundUp(s.off, align)
		if pad := at - s.off; pad > s.n || s.n-pad < taken {
			continue
		}
		h.cut(i, at, taken)
		h.live[at] = room{n, taken}
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
	r := h.live[off]
	delete(h.live, off)
	h.use.InUse -= r.bytes
	h.use.Blocks--
	if h.guard {
		h.idle = append(h.idle, span{off, r.taken})
	} else {
		h.merge(span{off, r.taken})
	}
	return r.bytes
}

// merge makes s free.
func (h *heap) merge(s span) {
	off := s.off
	i, _ := slices.BinarySearchFunc(h.free, off, func(s span, off uint64) int {
		if s.off < off {
			return -1
		}
		return 1
	})
	lo, hi := i, i
	if i > 0 && h.free[i-1].off+h.free[i-1].n == off {
		lo, s = i-1, span{h.free[i-1].off, h.free[i-1].n + s.n}
	}
	if i < len(h.free) && s.off+s.n == h.free[i].off {
		hi, s.n = i+1, s.n+h.free[i].n
	}
	h.free = slices.Replace(h.free, lo, hi, s)
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }
