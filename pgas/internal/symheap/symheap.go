// Package symheap is the allocator of the symmetric heap. Every PE runs its own copy on the same sequence of requests,
// so the offsets agree without communication: the allocator is deterministic. It takes the first span that fits, in the
// order of addresses, and merges free neighbours. The memory is sparse: what was never touched costs nothing, so the
// heap need not grow.
//
//ci:norace
package symheap

import (
	"slices"

	"github.com/gopgas/gopgas/pgas/boot"
)

// minAlign keeps blocks from sharing cache lines, so that neighbours do not slow each other down.
const minAlign = 64

// Usage says how a symmetric heap is used. It is the same on every PE.
type Usage struct {
	InUse  uint64 // bytes in live blocks, padding included
	High   uint64 // the most bytes from the heap's start that were ever in use
	Max    uint64 // bytes that the heap may grow to: PGAS_HEAP_MAX
	Blocks int    // number of live blocks
}

type span struct{ off, n uint64 }

// A heap hands out spans of [ReservedBytes, max).
//
// A guarded heap gives each block whole pages and leaves one free behind it, and does not reuse released blocks
// until nothing else is free. It reuses the oldest first.
//
// Invariant: free is sorted by off, holds no empty span, and no two spans touch.
type Heap struct {
	free  []span
	live  map[uint64]blockSize // live blocks, by their offsets
	Usage Usage

	guard bool
	idle  []span // blocks that are released and not yet free, the oldest first
}

// blockSize is the size of a live block: asked for, and taken in the heap.
type blockSize struct{ bytes, taken uint64 }

// New returns the allocator of a heap of max bytes, whose reserved memory is in use.
func New(max uint64) *Heap {
	return &Heap{
		free:  []span{{boot.ReservedBytes, max - boot.ReservedBytes}},
		live:  map[uint64]blockSize{},
		Usage: Usage{Max: max - boot.ReservedBytes, High: boot.ReservedBytes},
	}
}

// Guarded makes h a guarded heap. Call it before the first alloc.
func (h *Heap) Guarded() { h.guard = true }

// Alloc returns the offset of n bytes at a multiple of align, and false if there is no such span.
func (h *Heap) Alloc(n, align uint64) (uint64, bool) {
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
func (h *Heap) fit(n, taken, align uint64) (uint64, bool) {
	for i, s := range h.free {
		at := roundUp(s.off, align)
		if pad := at - s.off; pad > s.n || s.n-pad < taken {
			continue
		}
		h.cut(i, at, taken)
		h.live[at] = blockSize{n, taken}
		h.Usage.InUse += n
		h.Usage.Blocks++
		h.Usage.High = max(h.Usage.High, at+n)
		return at, true
	}
	return 0, false
}

// cut takes [at, at+n) out of free span i.
func (h *Heap) cut(i int, at, n uint64) {
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

// Release gives the block at off back and returns its bytes.
func (h *Heap) Release(off uint64) uint64 {
	r := h.live[off]
	delete(h.live, off)
	h.Usage.InUse -= r.bytes
	h.Usage.Blocks--
	if h.guard {
		h.idle = append(h.idle, span{off, r.taken})
	} else {
		h.merge(span{off, r.taken})
	}
	return r.bytes
}

// merge makes s free.
func (h *Heap) merge(s span) {
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
