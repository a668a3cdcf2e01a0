package node

// Addresses in the own heap.

import (
	"sync/atomic"
	"unsafe"
)

// Own returns the address of offset off in this PE's own heap, for the runtime.
func (n *Node) Own(off uintptr) unsafe.Pointer { return unsafe.Add(n.HeapBase.P, off) }

// WordsOf returns count words from offset off of the heap of pe, which is on this host.
func (n *Node) WordsOf(pe int, off uintptr, count int) []atomic.Uint64 {
	return unsafe.Slice((*atomic.Uint64)(unsafe.Add(BasePointer(n.Shm.Heap(pe)), off)), count)
}
