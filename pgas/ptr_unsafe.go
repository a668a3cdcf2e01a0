package pgas

// A peer's memory as Go memory. The PEs of a host map each other's heaps, so a program may look at a
// neighbour's data in place instead of copying it.
//
// Loads and stores through what Ptr returns are the program's own, and Go's memory model knows nothing of
// the other process. Two PEs that use the same bytes order their accesses as they would with puts and
// gets: the one that stores calls Fence, Quiet or Barrier and then updates a signal or an atomic word
// (or meets the other in a Barrier); the one that loads waits for that first. Without it, the two race.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Ptr is the range of PE pe as Go memory, or nil if pe is on another host (or s is the zero Slice, or
// Alloc gave no elements). It is valid until the allocation is freed. It is ordinary memory, not a
// symmetric reference: it belongs to this process.
//
// A Fence of any context orders stores through it before what is issued on that context later, and a
// Quiet or Barrier completes them; but nothing tells their owner: a signal or a barrier must. Words that
// are updated atomically anywhere must be accessed with sync/atomic here too, and not at all if the
// job's atomics are the network's (PGAS_AMO=nic) (OpenSHMEM 1.6, shmem_ptr; on a context of a team,
// shmem_team_ptr).
func (s Slice[T]) Ptr(pe int) []T {
	p := s.ctx.ptr("Ptr", pe, s.off, uintptr(s.n)*node.SizeOf[T]())
	if p == nil || s.n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(p), s.n)
}

// Ptr is the element of PE pe as Go memory, or nil if pe is on another host; see Slice.Ptr.
func (r Ref[T]) Ptr(pe int) *T {
	r.ctx.world("Ptr")
	return (*T)(r.ctx.ptr("Ptr", pe, r.off, node.SizeOf[T]()))
}

// Ptr is All().Ptr(pe): the whole allocation on PE pe as Go memory, or nil if pe is on another host.
func (s Sym[T]) Ptr(pe int) []T {
	s.alive("Ptr")
	return Slice[T]{s.ctx, s.off, s.n}.Ptr(pe)
}

// ptr returns the address of n bytes from reference off in pe's heap, or nil if that is not mapped in this
// process. It does so even if plain accesses do not take the fast path.
func (c *Context) ptr(op string, pe int, off, n uintptr) unsafe.Pointer {
	if c == nil {
		return nil
	}
	_, to := c.routeTo(op, pe)
	at := c.place(op, off, n)
	heap := c.w.n.Shm.Heap(to)
	if heap == nil || c.routes == nil { // a transport that must see every access shows no memory
		return nil
	}
	if off>>generationShift == 0 {
		return unsafe.Add(node.BasePointer(heap), off)
	}
	return unsafe.Add(c.w.guarded(to, heap), at)
}
