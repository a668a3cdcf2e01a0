package pgas

// The memory of the PEs of this host as Go slices, for collectives, which read and write it in place.

import "unsafe"

// reach is n elements from offset off of the heap of pe of the job, which is on this host.
func reach[T any](n *Node, pe int, off uintptr, count int) []T {
	return unsafe.Slice((*T)(unsafe.Add(basePointer(n.shm.Heap(pe)), off)), count)
}

// elements is the first n elements that b holds.
func elements[T any](b []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// asBytes is the memory of s.
func asBytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*sizeOf[T]())
}
