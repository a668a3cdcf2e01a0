package sim

import "unsafe"

// heapRange says where b is in p's heap, if it is in it.
func (p *pe) heapRange(b []byte) (lo, hi uint64, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(p.heap)))
	return uint64(at), uint64(at) + uint64(len(b)), at < uintptr(len(p.heap))
}
