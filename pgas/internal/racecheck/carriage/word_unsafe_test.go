package carriage

import (
	"sync/atomic"
	"unsafe"
)

// wordAt returns the word at an offset of a heap.
func wordAt(heap []byte, off uint64) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&heap[off]))
}
