//go:build cgo && linux

package remote

/*
#cgo CFLAGS: -D_GNU_SOURCE -std=gnu11 -O2 -Wall -Wextra
#include "remote.h"
*/
import "C"

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// Way reaches PEs.
type Way struct{ c *C.remote_t }

// New returns a way to PEs with these heaps, which stay mapped until Free.
func New(heaps []uintptr) *Way {
	c := C.remote_new(C.uint32_t(len(heaps)))
	copy(unsafe.Slice((*uintptr)(unsafe.Pointer(c.heaps)), len(heaps)), heaps)
	return &Way{c}
}

// Address returns the address of the struct outside.
func (w *Way) Address() uintptr { return uintptr(unsafe.Pointer(w.c)) }

// Delay makes each call take d longer.
func (w *Way) Delay(d time.Duration) { atomic.StoreUint64((*uint64)(&w.c.delay_ns), uint64(d)) }

// Shut makes calls wait until Open.
func (w *Way) Shut() { atomic.StoreUint32((*uint32)(&w.c.closed), 1) }

// Open lets calls go on.
func (w *Way) Open() { atomic.StoreUint32((*uint32)(&w.c.closed), 0) }

// Hold makes gets that have their bytes wait until Give.
func (w *Way) Hold() { atomic.StoreUint32((*uint32)(&w.c.held), 1) }

// Give lets those gets end.
func (w *Way) Give() { atomic.StoreUint32((*uint32)(&w.c.held), 0) }

// Waiting returns the number of calls under way that wait for Open or for Give.
func (w *Way) Waiting() int { return int(atomic.LoadUint32((*uint32)(&w.c.waiting))) }

// Lose makes every call for pe fail.
func (w *Way) Lose(pe int) { atomic.StoreUint64((*uint64)(&w.c.lost), uint64(pe)+1) }

// Calls returns the number of gets and of atomics so far.
func (w *Way) Calls() (gets, atomics int) {
	return int(atomic.LoadUint64((*uint64)(&w.c.gets))), int(atomic.LoadUint64((*uint64)(&w.c.atomics)))
}

// Free ends w. No call may be under way.
func (w *Way) Free() { C.remote_free(w.c) }
