package pgas

// Waits for words of 16 bits, which OpenSHMEM still has though they are deprecated. Go has no atomic load of 16 bits.
// So a load loads the aligned 4 bytes that contain the word, and a store compare-swaps them. There are no atomics on
// such a word: a PE puts it. A put from another host rings no doorbell, so a sleeping wait checks the word at
// intervals that grow to maxSleep.

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// ShortWord is the constraint of the integer types of 16 bits, and of every type made from one.
type ShortWord interface{ ~int16 | ~uint16 }

// Short refers to a word of 16 bits of symmetric memory that can be waited for. New programs use a Signal, or an
// Atomic of 32 bits, whose updates wake a waiter at once.
//
// To the race detector an access is one to the aligned 4 bytes that contain the word. A program that runs under the
// race detector therefore accesses the neighbouring element, which shares these bytes, as a Short too.
type Short[W ShortWord] struct {
	_   [0]W // keeps a Short from being converted to that of another type
	ctx *Context
	off uintptr
}

// ShortOf returns element i of s as a word to wait for. It panics with *UsageError if i is out of range.
func ShortOf[W ShortWord](s Sym[W], i int) Short[W] {
	r := s.At(i)
	return Short[W]{ctx: r.ctx, off: r.off}
}

// On returns the same word on context c, whose team its PE numbers then count.
func (s Short[W]) On(c *Context) Short[W] { return Short[W]{ctx: c, off: s.off} }

// Put stores v into the word on pe. It is complete and visible at pe after a Quiet; a Fence orders it after earlier
// puts to the same PE and before later ones. It panics with *UsageError if pe is out of range or the context is
// closed (OpenSHMEM 1.6, shmem_short_p).
func (s Short[W]) Put(pe int, v W) {
	s.made("Short.Put")
	if x := s.ctx.watch; x != nil && x.races != nil {
		s.putAtomic(pe, v)
		return
	}
	if s.ctx.onStrands() {
		s.followFenced(pe)
	}
	if p, door := s.ctx.shortAt(pe, s.off); p != nil {
		storeShort(p, uint16(v))
		door.Ring(uint64(s.off))
		return
	}
	slowPut(s.ctx, pe, s.off, unsafe.Pointer(&v), unsafe.Sizeof(v))
}

// followFenced orders this PE after what a fence has ordered before the put, as the race detector sees it: a PE that
// waits for the word must be after that.
func (s Short[W]) followFenced(pe int) {
	via, to := s.ctx.routeTo("Put", pe)
	word := transport.Word{Off: s.ctx.place("Put", s.off, 2) &^ 3, Bytes: 4}
	_, _ = via.Atomic(s.ctx.w.n.Ctx, to, transport.Fetch, word, 0, 0)
}

// putAtomic is Put where a detector of races must see that it is atomic: an exchange of the 4 bytes around the word.
func (s Short[W]) putAtomic(pe int, v W) {
	whole := transport.Word{Off: s.ctx.place("Put", s.off, 2) &^ 3, Bytes: 4}
	at := s.off & 2
	for old := s.ctx.mustAtomic(pe, transport.Fetch, whole, 0, 0); ; {
		next := uint32(old)
		*(*uint16)(unsafe.Add(unsafe.Pointer(&next), at)) = uint16(v)
		was := s.ctx.mustAtomic(pe, transport.CompareSwap, whole, uint64(next), old)
		if was == old {
			return
		}
		old = was
	}
}

// WaitUntil blocks until this PE's own copy of the word compares true with v, and returns the value that did.
// Operations ordered before the put of that value, by a Fence or a Quiet of the same context, are then visible.
// Short.Put by a PE of this host wakes the waiter. A put by another host, or by a plain Ref or Slice, is noticed at
// most 50 ms later. Its errors and panics are those of Atomic.WaitUntil (OpenSHMEM 1.6, shmem_short_wait_until and
// shmem_ushort_wait_until).
func (s Short[W]) WaitUntil(ctx context.Context, cmp Cmp, v W) (W, error) {
	s.made("Short.WaitUntil")
	w := s.ctx.w
	got, err := w.awaitWord(ctx, w.n.WordCond(s.word(), cmp, uint64(v), W(0)-1 < 0))
	return W(got), err
}

// Test reports, without waiting, whether this PE's own copy of the word compares true with v. It panics with
// *UsageError if cmp is no comparison (OpenSHMEM 1.6, shmem_short_test and shmem_ushort_test).
func (s Short[W]) Test(cmp Cmp, v W) bool {
	s.made("Short.Test")
	w := s.ctx.w
	w.n.YieldIfScheduled()
	checkCmp(cmp)
	c := w.n.WordCond(s.word(), cmp, uint64(v), W(0)-1 < 0)
	_, ok := c.Check()
	w.looked(w.n.Ctx, c.Word.Off, uint64(c.Word.Bytes))
	return ok
}

// made panics with *UsageError if s is zero.
func (s Short[W]) made(op string) {
	if s.ctx == nil {
		misuse(op, zeroReference)
	}
}

// word returns the offset and the size of the word, as conditions take them.
func (s Short[W]) word() transport.Word {
	return transport.Word{Off: s.ctx.place("wait", s.off, 2), Bytes: 2}
}

// shortAt returns the address of a word in a heap that is mapped in this process, and the doorbell to ring after a
// store. It returns nil if the heap is not mapped.
func (c *Context) shortAt(pe int, off uintptr) (unsafe.Pointer, *boot.State) {
	if i := uint(pe - c.firstPE); i < uint(len(c.bases)) && i < uint(len(c.doorbells)) {
		return unsafe.Add(c.bases[i], off), c.doorbells[i]
	}
	p := c.ptr("Put", pe, off, 2)
	if p == nil {
		return nil, nil
	}
	_, to := c.routeTo("Put", pe)
	return p, c.w.n.Job.Segment.States[to-c.w.n.FirstPE]
}

// storeShort stores v at p and leaves the other 2 of the aligned 4 bytes unchanged.
func storeShort(p unsafe.Pointer, v uint16) {
	whole, at := node.Around(p)
	for {
		old := atomic.LoadUint32(whole)
		next := old
		*(*uint16)(unsafe.Add(unsafe.Pointer(&next), at)) = v
		if atomic.CompareAndSwapUint32(whole, old, next) {
			return
		}
	}
}
