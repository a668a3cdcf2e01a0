package ckpt

import "unsafe"

// bytesOfOne returns the bytes of *p, which holds no pointers.
func bytesOfOne[T any](p *T) []byte { return bytesOf(unsafe.Slice(p, 1)) }

// bytesOf returns the bytes of elements, which hold no pointers.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
