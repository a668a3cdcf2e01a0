//go:build cgo

package ucx

// Memory: what peers may reach, and the keys with which they do.

/*
#include "shim.h"
*/
import "C"

import (
	"runtime"
	"sync"
	"unsafe"
)

// Memory is a range registered with UCX, which holders of its key can put to, get from and update
// atomically. It is safe for concurrent use.
type Memory struct {
	ctx   *Context
	mu    sync.Mutex
	c     C.ucp_mem_h // the handle in C; nil once closed
	bytes []byte
	pin   runtime.Pinner
}

// MapMemory registers existing memory. Go memory stays pinned until Close; the bytes must hold no Go
// pointers. Peers write to it behind the garbage collector's and the race detector's back: read words
// that they update with sync/atomic. It fails with ErrInvalidParam if b is empty, and with the status of a device that
// cannot register it.
func (c *Context) MapMemory(b []byte) (*Memory, error) {
	if len(b) == 0 {
		return nil, &Error{Op: "map memory", Status: ErrInvalidParam, Detail: "the memory is empty"}
	}
	m := &Memory{ctx: c, bytes: b}
	m.pin.Pin(unsafe.SliceData(b))
	if err := m.register(unsafe.Pointer(unsafe.SliceData(b)), len(b)); err != nil {
		m.pin.Unpin()
		return nil, err
	}
	return m, nil
}

// AllocMemory allocates memory outside the Go heap, by whatever means suits the devices, and registers
// it. It holds zeros, is aligned to at least 64 bytes, and is gone after Close. It fails with ErrInvalidParam
// unless n is positive.
func (c *Context) AllocMemory(n int) (*Memory, error) {
	if n <= 0 {
		return nil, &Error{Op: "allocate memory", Status: ErrInvalidParam, Detail: "the size must be positive"}
	}
	m := &Memory{ctx: c}
	if err := m.register(nil, n); err != nil {
		return nil, err
	}
	clear(m.bytes)
	return m, nil
}

// register maps len bytes at p; with a nil p it allocates them.
func (m *Memory) register(p unsafe.Pointer, n int) error {
	if err := m.ctx.use("map memory"); err != nil {
		return err
	}
	detail := newDetail()
	defer detail.free()
	var base unsafe.Pointer
	var mapped C.size_t
	st := Status(C.gx_mem_map(m.ctx.c, p, C.size_t(n), &m.c, &base, &mapped, detail.c))
	if st != OK {
		m.ctx.users.Add(-1)
		return &Error{Op: "map memory", Status: st, Detail: detail.text()}
	}
	if p == nil {
		m.bytes = unsafe.Slice((*byte)(base), n)
	}
	return nil
}

// Bytes returns the memory itself, nil once it is closed.
func (m *Memory) Bytes() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}

// Addr returns the address of the first byte, which peers add their offsets to.
func (m *Memory) Addr() uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes())))) }

// PackKey returns what a peer needs to reach the memory: some tens of opaque bytes, to be sent to it by
// any means and given to Endpoint.UnpackKey together with Addr. It fails with the status of a device that exports
// no key.
func (m *Memory) PackKey() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.c == nil {
		return nil, &Error{Op: "pack key", Status: ErrInvalidParam, Detail: "the memory is closed"}
	}
	var buffer unsafe.Pointer
	var n C.size_t
	if st := Status(C.gx_rkey_pack(m.ctx.c, m.c, &buffer, &n)); st != OK {
		return nil, &Error{Op: "pack key", Status: st}
	}
	defer C.gx_rkey_buffer_release(buffer)
	return C.GoBytes(buffer, C.int(n)), nil
}

// Close takes the memory back. Peers that still use it fail, or on some transports write to what is
// there next: agree with them first. It fails with UCX's status if a device cannot release it.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.c == nil {
		return nil
	}
	if st := Status(C.ucp_mem_unmap(m.ctx.c, m.c)); st != OK {
		return &Error{Op: "unmap memory", Status: st}
	}
	m.c, m.bytes = nil, nil
	m.pin.Unpin()
	m.ctx.users.Add(-1)
	return nil
}

// RKey is the right to reach one Memory of a peer through one endpoint.
type RKey struct {
	ep *Endpoint
	c  *C.gx_rkey // the handle in C; nil once closed
}

// UnpackKey makes a key usable on this endpoint, connecting it if need be. It does not wait for the peer. It fails
// with ErrInvalidParam if packed is empty, and with UCX's status if packed is no key.
func (ep *Endpoint) UnpackKey(packed []byte) (*RKey, error) {
	if len(packed) == 0 {
		return nil, &Error{Op: "unpack key", Status: ErrInvalidParam, Detail: "the packed key is empty"}
	}
	if err := ep.open("unpack key"); err != nil {
		return nil, err
	}
	defer ep.w.unlock()
	k := &RKey{ep: ep}
	if st := Status(C.gx_rkey_unpack(ep.c, unsafe.Pointer(unsafe.SliceData(packed)), &k.c)); st != OK {
		return nil, ep.w.failed("unpack key", st)
	}
	ep.w.keys[k] = struct{}{}
	return k, nil
}

// Close releases the key. It must come before the endpoint is closed, and after a flush of what used it.
func (k *RKey) Close() {
	w := k.ep.w
	w.lock()
	defer w.unlock()
	k.free()
}

// free releases the key; closing the worker does so for those that are left.
func (k *RKey) free() {
	if k.c != nil {
		C.gx_rkey_free(k.c)
		k.c = nil
		delete(k.ep.w.keys, k)
	}
}
