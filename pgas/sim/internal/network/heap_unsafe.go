package network

import "unsafe"

// rangeIn returns the offsets of b in a heap. ok is false if b is not in there.
func rangeIn(heap, b []byte) (lo, hi uint64, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(heap)))
	return uint64(at), uint64(at) + uint64(len(b)), at < uintptr(len(heap))
}
