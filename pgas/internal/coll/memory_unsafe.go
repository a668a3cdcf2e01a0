package coll

// The memory of the PEs of this host as Go slices, for collectives, which read and write it in place.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// peerSlice is n elements from offset off of the heap of pe of the job, which is on this host.
func peerSlice[T any](n *node.Node, pe int, off uintptr, count int) []T {
	return unsafe.Slice((*T)(unsafe.Add(node.BasePointer(n.Shm.Heap(pe)), off)), count)
}

// ownSlice returns count elements from offset off of this PE's own heap.
func ownSlice[T any](n *node.Node, off uintptr, count int) []T {
	return unsafe.Slice((*T)(n.Own(off)), count)
}

// viewAs is the first n elements that b holds.
func viewAs[T any](b []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// AsBytes is the memory of s.
func AsBytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*node.SizeOf[T]())
}

// scratch is n bytes of *buf, which is made longer if it must be. They are aligned for every type.
func scratch(buf *[]uint64, n int) []byte {
	words := (n + 7) / 8
	if len(*buf) < words {
		*buf = make([]uint64, words)
	}
	return AsBytes(*buf)[:n]
}

// share is share i of n elements in shares as equal as can be.
func share(n, shares, i int) (lo, hi int) { return n * i / shares, n * (i + 1) / shares }
