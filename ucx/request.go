//go:build cgo

package ucx

// Request: an operation that did not complete at once. Its state is a slot in C memory that UCX's
// callback writes and Go reads, so asking for the status does not cross into C. Each slot has a twin in
// Go, which keeps the operation's buffers pinned; slots are reused, so a steady flow of operations
// allocates nothing.

/*
#cgo noescape gx_request_cancel
#cgo nocallback gx_request_cancel
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"
)

// slot is the Go side of a gx_slot. Invariant: gen grows whenever the slot becomes free, so a Request
// with another gen is over.
type slot struct {
	c      *C.gx_slot
	w      *Worker
	op     string
	gen    atomic.Uint32
	pinned bool
	pin    runtime.Pinner
	ep     *C.gx_ep // the endpoint that this operation closes
	next   *slot    // the next request in the free list
}

// complete reports whether the outcome is there.
func (s *slot) complete() bool { return s.status() != InProgress }

func (s *slot) status() Status {
	return Status(atomic.LoadInt32((*int32)(unsafe.Pointer(&s.c.status))))
}

// hold pins a buffer until the slot is released.
func (s *slot) hold(p *byte) {
	s.pin.Pin(p)
	s.pinned = true
}

// take returns a free slot, nil when there is no memory for more.
func (w *Worker) take() *slot {
	if w.free == nil && !w.grow() {
		return nil
	}
	s := w.free
	w.free = s.next
	return s
}

// grow adds a chunk of slots.
func (w *Worker) grow() bool {
	chunk := C.gx_slots_create(w.c, C.uint32_t(len(w.slots)+1))
	if chunk == nil {
		return false
	}
	w.chunks = append(w.chunks, chunk)
	fresh := make([]slot, C.GX_SLOT_CHUNK)
	slots := unsafe.Slice(chunk, C.GX_SLOT_CHUNK)
	for i := range slots {
		s := &fresh[i]
		s.c, s.w = &slots[i], w
		w.slots = append(w.slots, s)
		s.next, w.free = w.free, s
	}
	return true
}

// release takes back a slot whose operation is over.
func (w *Worker) release(s *slot) {
	if s.pinned {
		s.pin.Unpin()
		s.pinned = false
	}
	if s.ep != nil {
		C.gx_ep_free(s.ep)
		s.ep = nil
	}
	s.gen.Add(1)
	s.next, w.free = w.free, s
}

// dropSlots ends every operation of a worker that UCX has already forgotten.
func (w *Worker) dropSlots() {
	for _, s := range w.slots {
		s.gen.Add(1)
		if s.pinned {
			s.pin.Unpin()
		}
		s.c = nil
	}
	for _, chunk := range w.chunks {
		C.free(unsafe.Pointer(chunk))
	}
	w.slots, w.chunks, w.free = nil, nil, nil
}

// posted turns the status of a post into what the caller gets.
func (w *Worker) posted(s *slot, st C.int32_t, op string) (Request, error) {
	switch {
	case Status(st) == InProgress:
		s.op = op
		return Request{s: s, gen: s.gen.Load(), status: InProgress}, nil
	case st == 0:
		r := Request{value: uint64(s.c.result)}
		w.release(s)
		return r, nil
	default:
		w.release(s)
		return Request{}, w.failed(op, Status(st))
	}
}

// failed returns the error of a call that UCX refused, with what it said about it.
func (w *Worker) failed(op string, st Status) error {
	e := &Error{Op: op, Status: st}
	if w.c.detail[0] != 0 {
		e.Detail = oneLine(C.GoString(&w.c.detail[0]))
		w.c.detail[0] = 0
	}
	if st == ErrUnreachable && strings.Contains(e.Detail, "no peer failure handler") {
		e.Detail += ": enable another transport, or set EndpointParams.Trusting"
	}
	return e
}

// Request is an operation that was posted. The zero Request, and that of an operation which completed
// while it was posted, is complete. A Request must be waited for or freed, and is not to be copied once
// it has been used.
type Request struct {
	s      *slot
	gen    uint32
	status Status
	value  uint64
}

// Status returns OK, InProgress, or why the operation failed. It makes no progress and does not cross into C.
// After Free, and when the worker was closed first, it is ErrCanceled.
func (r *Request) Status() Status {
	s := r.s
	if s == nil {
		return r.status
	}
	if s.gen.Load() != r.gen {
		return ErrCanceled
	}
	return s.status()
}

// Value returns the old value of the word of a fetching atomic that has completed, zero-extended.
func (r *Request) Value() uint64 {
	if r.s == nil {
		return r.value
	}
	if st := r.Status(); st != OK {
		return 0
	}
	return uint64(r.s.c.result)
}

// Wait makes progress until the operation completes, and then frees the request: Status and Value keep
// their answers. It returns why the operation failed, or ctx's error, in which case the operation goes
// on and can be waited for again.
func (r *Request) Wait(ctx context.Context) error {
	s := r.s
	if s == nil {
		return r.outcome("wait")
	}
	if err := s.w.await(ctx, goal{s: s, gen: r.gen}); err != nil {
		return err
	}
	s.w.lock()
	op := s.op
	if s.gen.Load() != r.gen {
		r.status = ErrCanceled
	} else {
		r.status, r.value = s.status(), uint64(s.c.result)
		s.w.release(s)
	}
	r.s = nil
	s.w.unlock()
	return r.outcome(op)
}

func (r *Request) outcome(op string) error {
	if r.status >= OK {
		return nil
	}
	return &Error{Op: op, Status: r.status}
}

// Cancel asks UCX to give the operation up. UCX can do so only for some operations (no version known so
// far does for puts, gets and atomics): wait for the request as before, it completes either way, with
// ErrCanceled if it was given up.
func (r *Request) Cancel() {
	s := r.s
	if s == nil {
		return
	}
	s.w.lock()
	if s.gen.Load() == r.gen {
		C.gx_request_cancel(s.w.c, s.c)
	}
	s.w.unlock()
}

// Free gives the request up without waiting. The operation goes on, its outcome will not be known, and
// its buffers stay in use until a flush says otherwise.
func (r *Request) Free() {
	s := r.s
	if s == nil {
		return
	}
	s.w.lock()
	if s.gen.Load() == r.gen {
		if s.complete() {
			s.w.release(s)
		} else {
			s.c.abandoned = 1
		}
	}
	s.w.unlock()
	r.s, r.status = nil, ErrCanceled
}
