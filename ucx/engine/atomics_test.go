//go:build cgo

package engine

import "unsafe"

func wordAt(heap []byte, off uint64) *uint64 { return (*uint64)(unsafe.Pointer(&heap[off])) }
