//go:build cgo

package ucx

// Put and get: one crossing into C each.
//
// What UCX keeps after the call returns is never unpinned Go memory: small puts are copied into the
// operation's slot, everything else is pinned before the call and until the slot is released. The
// functions that copy are noescape; those that keep the buffer are not, because that would be a lie.

/*
#cgo noescape gx_put_copy
#cgo nocallback gx_put_copy
#cgo nocallback gx_put_hold
#cgo nocallback gx_get_hold
#include "shim.h"
*/
import "C"

import "unsafe"

// Put copies src to the peer's memory at address remote, which must lie in the memory of key. src may be
// reused when the request completes (at once if it is no longer than CopyMax); the data is there when a
// later flush completes. Puts are unordered, except by Worker.Fence. It fails with ErrInvalidParam for a key
// that was not unpacked for this endpoint, or is closed.
func (ep *Endpoint) Put(src []byte, remote uint64, key *RKey) (Request, error) {
	s, err := ep.beginRMA("put", key)
	if err != nil {
		return Request{}, err
	}
	w := ep.w
	defer w.unlock()
	p, n := unsafe.SliceData(src), len(src)
	if n <= CopyMax {
		return w.posted(s, C.gx_put_copy(ep.c, s.c, unsafe.Pointer(p), C.uint64_t(n), C.uint64_t(remote), key.c), "put")
	}
	s.hold(p)
	return w.posted(s, C.gx_put_hold(ep.c, s.c, unsafe.Pointer(p), C.uint64_t(n), C.uint64_t(remote), key.c), "put")
}

// Get copies from the peer's memory at address remote, which must lie in the memory of key, to dst. dst
// is filled when the request completes, or when a later flush does, and must be left alone until then. It fails as Put
// does.
func (ep *Endpoint) Get(dst []byte, remote uint64, key *RKey) (Request, error) {
	s, err := ep.beginRMA("get", key)
	if err != nil {
		return Request{}, err
	}
	w := ep.w
	defer w.unlock()
	p, n := unsafe.SliceData(dst), len(dst)
	if n > 0 {
		s.hold(p)
	}
	return w.posted(s, C.gx_get_hold(ep.c, s.c, unsafe.Pointer(p), C.uint64_t(n), C.uint64_t(remote), key.c), "get")
}

// beginRMA begins an operation that needs a key.
func (ep *Endpoint) beginRMA(op string, key *RKey) (*slot, error) {
	if err := ep.w.ctx.need(op, FeatureRMA, "FeatureRMA"); err != nil {
		return nil, err
	}
	return ep.beginKey(op, key)
}

func (ep *Endpoint) beginKey(op string, key *RKey) (*slot, error) {
	if key == nil || key.ep != ep {
		return nil, &Error{Op: op, Status: ErrInvalidParam, Detail: "the key was not unpacked for this endpoint"}
	}
	s, err := ep.begin(op)
	if err == nil && key.c == nil {
		ep.w.release(s)
		ep.w.unlock()
		return nil, &Error{Op: op, Status: ErrInvalidParam, Detail: "the key is closed"}
	}
	return s, err
}
