package sim

import "unsafe"

// heapRange returns the offsets of b in p's heap. ok is false if it is not in there.
func (p *pe) heapRange(b []byte) (lo, hi uint64, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(p.heap)))
	return uint64(at), uint64(at) + uint64(len(b)), at < uintptr(len(p.heap))
}
