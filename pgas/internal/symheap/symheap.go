// Package symheap is the allocator of the symmetric heap. Every PE runs its own copy on the same sequence of requests, so the
// offsets agree without communication: the allocator is deterministic. It takes the first span that fits, in the order of
// addresses, and merges free neighbours. The memory is sparse: what was never touched costs nothing, so the heap need not
// grow.
package symheap

import (
	"slices"

	"github.com/gopgas/gopgas/pgas/boot"
)

// minAlign keeps blocks from sharing cache lines, so that neighbours do not slow each other down.
const MinAlign = 64

// Usage says how a symmetric heap is used. It is the same on every PE.
type Usage struct {
	InUse  uint64 // bytes of live blocks, padding included
	High   uint64 // the most bytes from the heap's start that were ever in use
	Max    uint64 // what it may grow to: PGAS_HEAP_MAX
	Blocks int    // live blocks
}

type Span struct{ Off, N uint64 }

// A heap hands out spans of [ReservedBytes, max).
//
// A guarded heap gives each block whole pages and leaves one free behind it, and does not reuse released blocks
// until nothing else is free. It reuses the oldest first.
//
// Invariant: free is sorted by off, holds no empty span, and no two spans touch.
type Heap struct {
	Free  []Span
	live  map[uint64]room // by the offset of a block
	Usage Usage

	guard bool
	idle  []Span // released and not yet free, the oldest first
}

// room is the size of a live block: asked for, and taken in the heap.
type room struct{ bytes, taken uint64 }

func New(max uint64) *Heap {
	return &Heap{
		Free:  []Span{{boot.ReservedBytes, max - boot.ReservedBytes}},
		live:  map[uint64]room{},
		Usage: Usage{Max: max - boot.ReservedBytes, High: boot.ReservedBytes},
	}
}

// Guarded makes h a guarded heap. Call it before the first alloc.
func (h *Heap) Guarded() { h.guard = true }

// Alloc returns the offset of n bytes at a multiple of align, and false if there is no such span.
func (h *Heap) Alloc(n, align uint64) (uint64, bool) {
	n = RoundUp(max(n, 1), MinAlign)
	taken, align := n, max(align, MinAlign)
	if h.guard {
		taken, align = RoundUp(n, boot.PageBytes)+boot.PageBytes, max(align, boot.PageBytes)
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
	for i, s := range h.Free {
		at := RoundUp(s.Off, align)
		if pad := at - s.Off; pad > s.N || s.N-pad < taken {
			continue
		}
		h.cut(i, at, taken)
		h.live[at] = room{n, taken}
		h.Usage.InUse += n
		h.Usage.Blocks++
		h.Usage.High = max(h.Usage.High, at+n)
		return at, true
	}
	return 0, false
}

// cut takes [at, at+n) out of free span i.
func (h *Heap) cut(i int, at, n uint64) {
	s := h.Free[i]
	var rest []Span
	if at > s.Off {
		rest = append(rest, Span{s.Off, at - s.Off})
	}
	if end := s.Off + s.N; at+n < end {
		rest = append(rest, Span{at + n, end - at - n})
	}
	h.Free = slices.Replace(h.Free, i, i+1, rest...)
}

// Release gives the block at off back and returns its bytes.
func (h *Heap) Release(off uint64) uint64 {
	r := h.live[off]
	delete(h.live, off)
	h.Usage.InUse -= r.bytes
	h.Usage.Blocks--
	if h.guard {
		h.idle = append(h.idle, Span{off, r.taken})
	} else {
		h.merge(Span{off, r.taken})
	}
	return r.bytes
}

// merge makes s free.
func (h *Heap) merge(s Span) {
	off := s.Off
	i, _ := slices.BinarySearchFunc(h.Free, off, func(s Span, off uint64) int {
		if s.Off < off {
			return -1
		}
		return 1
	})
	lo, hi := i, i
	if i > 0 && h.Free[i-1].Off+h.Free[i-1].N == off {
		lo, s = i-1, Span{h.Free[i-1].Off, h.Free[i-1].N + s.N}
	}
	if i < len(h.Free) && s.Off+s.N == h.Free[i].Off {
		hi, s.N = i+1, s.N+h.Free[i].N
	}
	h.Free = slices.Replace(h.Free, lo, hi, s)
}

func RoundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }
