package containers

import (
	"unsafe"

	"github.com/gopgas/gopgas/internal/carry"
)

// bytesOf returns the bytes of elements.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*carry.SizeOf[T]())
}
