package pgas

// A peer's memory as Go memory. The PEs of a host map each other's heaps, so a program may read and write the data of
// another PE of its host in place instead of copying it.
//
// The runtime does not see loads and stores through Ptr, and Go's memory model says nothing about another process. Two
// PEs that use the same bytes order their accesses as they would with puts and gets. The PE that stores calls Fence or
// Quiet and then updates a signal or an atomic word, or calls Barrier. The PE that loads first waits for that word, or
// calls the same Barrier. Otherwise the two race.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Ptr returns the range of PE pe as Go memory, or nil if pe is on another host or s has no elements. It moves nothing.
// The memory is valid until the allocation is freed. It is ordinary memory of this process, not a symmetric reference.
// Ptr panics with *UsageError if pe is out of range or the context is closed.
//
// A Fence of any context orders stores through it before later operations on that context, and a Quiet or a Barrier
// completes them. They wake no waiter: pe learns of them by a signal, an atomic word or a barrier. Words that any PE
// updates atomically must be accessed with sync/atomic through Ptr too, and not at all if the NIC executes the job's
// atomics (PGAS_AMO=nic) (OpenSHMEM 1.6, shmem_ptr; on a context of a team, shmem_team_ptr).
func (s Slice[T]) Ptr(pe int) []T {
	p := s.ctx.ptr("Ptr", pe, s.off, uintptr(s.n)*node.SizeOf[T]())
	if p == nil || s.n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(p), s.n)
}

// Ptr returns the element of PE pe as Go memory, or nil if pe is on another host, as Slice.Ptr does.
func (r Ref[T]) Ptr(pe int) *T {
	r.ctx.world("Ptr")
	return (*T)(r.ctx.ptr("Ptr", pe, r.off, node.SizeOf[T]()))
}

// Ptr returns the whole allocation of PE pe as Go memory, or nil if pe is on another host, as Slice.Ptr does. It panics
// with *UsageError if s was freed.
func (s Sym[T]) Ptr(pe int) []T {
	s.alive("Ptr")
	return Slice[T]{s.ctx, s.off, s.n}.Ptr(pe)
}

// ptr returns the address of n bytes from reference off in pe's heap, or nil if that heap is not mapped in this
// process. It does not depend on whether plain accesses take the fast path.
func (c *Context) ptr(op string, pe int, off, n uintptr) unsafe.Pointer {
	if c == nil {
		return nil
	}
	_, to := c.routeTo(op, pe)
	at := c.place(op, off, n)
	heap := c.w.n.Shm.Heap(to)
	if heap == nil || c.routes == nil { // a transport that must see every access gives out no memory
		return nil
	}
	if off>>generationShift == 0 {
		return unsafe.Add(node.BasePointer(heap), off)
	}
	return unsafe.Add(c.w.guarded(to, heap), at)
}
