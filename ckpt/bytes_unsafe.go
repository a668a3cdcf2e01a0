package ckpt

import "unsafe"

// bytesOf returns the bytes of elements, which hold no pointers.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
