package node

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// base is the address of a heap in this process.
type base struct{ P unsafe.Pointer }

// BasePointer returns the address of a heap in this process.
func BasePointer(heap []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(heap)) }

// Word8 names the word of 8 bytes at offset off of a heap.
func Word8(off uint64) transport.Word { return transport.Word{Off: off, Bytes: 8} }

// SizeOf returns the bytes of a T.
func SizeOf[T any]() uintptr {
	var v T
	return unsafe.Sizeof(v)
}

// CopyLarge copies src to dst, which is as long.
func CopyLarge[T any](dst, src []T) {
	if uintptr(len(src))*SizeOf[T]() < shm.PiecewiseBytes {
		copy(dst, src)
		return
	}
	shm.Copy(NoescapeBytes(unsafe.Pointer(unsafe.SliceData(dst)), uintptr(len(dst))*SizeOf[T]()), NoescapeBytes(unsafe.Pointer(unsafe.SliceData(src)), uintptr(len(src))*SizeOf[T]()))
}

// NoescapeBytes returns n bytes at p, hidden from escape analysis: transports do not keep the slices that they are
// given beyond the call.
func NoescapeBytes(p unsafe.Pointer, n uintptr) []byte {
	x := uintptr(p)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&x)), n)
}
