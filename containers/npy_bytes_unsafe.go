package containers

import (
	"unsafe"

	"github.com/gopgas/gopgas/internal/carry"
)

// npyBytes returns the bytes of elements.
func npyBytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*carry.SizeOf[T]())
}
