//go:build cgo && linux

package foreign

/*
#cgo CFLAGS: -D_GNU_SOURCE -std=gnu11 -O2 -Wall -Wextra
#cgo LDFLAGS: -lpthread
#include "foreign.h"
*/
import "C"

import (
	"syscall"
	"unsafe"
)

func address(words []uint64) *C.uint64_t {
	return (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(words)))
}

// Sum adds words in C on the thread of the caller. It returns 0 if an access has changed errno.
func Sum(words []uint64) uint64 {
	return uint64(C.foreign_sum(address(words), C.uint64_t(len(words))))
}

// ThreadSum adds words in C on a thread that Go does not know. It returns 0 if an access has changed errno, and fails
// if there is no thread to be had.
func ThreadSum(words []uint64) (uint64, error) {
	var sum C.uint64_t
	if err := C.foreign_thread_sum(address(words), C.uint64_t(len(words)), &sum); err != 0 {
		return 0, syscall.Errno(err)
	}
	return uint64(sum), nil
}

// Fill stores first, first+1, … in C on the thread of the caller. It reports whether errno has stayed what it was.
func Fill(words []uint64, first uint64) bool {
	return C.foreign_fill(address(words), C.uint64_t(len(words)), C.uint64_t(first)) != 0
}
