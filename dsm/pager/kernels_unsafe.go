//go:build cgo && linux

package pager

// The merge kernels one by one, for the tests that hold them to each other.

// #include "pager.h"
import "C"

import "unsafe"

type kernel int

const (
	byBytes kernel = C.KERNEL_BYTES
	byWords kernel = C.KERNEL_WORDS
	byAVX2  kernel = C.KERNEL_AVX2
)

func (k kernel) permitted() bool { return C.kernel_permitted(uint32(k)) != 0 }

// release writes own bytes over latest, or over twin if latest is nil, into own and twin.
func (k kernel) release(own, twin, latest []byte) (first, last int) {
	var changed [2]C.int64_t
	C.merge_release(uint32(k), address(own), address(twin), address(latest), C.uint64_t(len(own)), &changed[0])
	return int(changed[0]), int(changed[1])
}

// fetch writes latest into own, but for own bytes, and into twin.
func (k kernel) fetch(own, twin, latest []byte) {
	C.merge_fetch(uint32(k), address(own), address(twin), address(latest), C.uint64_t(len(own)))
}

func address(b []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))) }
