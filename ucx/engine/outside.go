//go:build cgo

package engine

// A channel for one thread that is not Go's, as Go sees it: Go opens it, with every lane that it will ever need,
// because opening a lane asks Go for an address; and Go closes it. outside.h is what the thread sees.

/*
#include <stdlib.h>
#include "engine.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Outside is a channel for one thread that is not Go's. The thread waits for answers of other PEs without Go, also
// while Go stops the world, and serves this PE's heap meanwhile.
type Outside struct {
	channel *Channel
	calls   *C.struct_outside
}

// Blocked is where reports find what a PE is blocked in: the words of a boot.Blocked, of which Op is the first.
type Blocked struct {
	Op   *atomic.Uint32 // not nil, and not in memory of Go that may move
	Code uint32         // code of a call of the thread, while it takes long
}

// Outside opens a channel with a lane to each of pes, for one thread that is not Go's. connect returns the address of a
// PE's engine, or nil if it cannot be had. Outside fails as Channel does, and if an address cannot be had.
func (e *Engine) Outside(pes []int, connect func(pe int) []byte, b Blocked) (*Outside, error) {
	c, err := e.channel(true, connect, len(pes)) // all of them stay
	if err != nil {
		return nil, err
	}
	c.pins.Pin(b.Op)
	calls := C.outside_open(c.c, (*C.struct_blocked)(unsafe.Pointer(b.Op)), C.uint32_t(b.Code))
	if calls == nil {
		c.Close()
		return nil, errors.New("out of memory")
	}
	e.mu.Lock()
	e.outsides = append(e.outsides, calls)
	c.outside = calls
	e.mu.Unlock()
	for _, pe := range pes {
		c.check(pe)
		if connect(pe) == nil {
			c.Close()
			return nil, fmt.Errorf("the address of PE %d cannot be had: the exchange of the job does not answer", pe)
		}
		c.lock()
		c.lane(pe)
		c.needService() // which completes the opening, even if the thread never calls
		c.unlock()
	}
	return &Outside{c, calls}, nil
}

// Address returns the address of the struct outside (outside.h), by which the thread reaches the lanes. It stays valid
// until the engine is closed.
func (o *Outside) Address() uintptr { return uintptr(unsafe.Pointer(o.calls)) }

// Close ends a call of the thread that is under way, and closes the channel. That call and later ones return -1. A call
// that UCX's own remote memory access carries out ends when its data is there or the PE is lost, and Close waits for
// that. Close returns nil.
func (o *Outside) Close() error { return o.channel.Close() }

// freeOutsides frees what threads have used. Their channels must have been closed.
func (e *Engine) freeOutsides() {
	for _, calls := range e.outsides {
		C.free(unsafe.Pointer(calls))
	}
	e.outsides = nil
}
