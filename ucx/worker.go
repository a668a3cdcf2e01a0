//go:build cgo

package ucx

// Worker: a progress engine with an address. Everything that a worker owns (slots of operations,
// endpoints, inboxes) is guarded by its lock when it is shared and by nothing when it is not.

/*
#cgo noescape gx_progress
#cgo nocallback gx_progress
#cgo noescape gx_worker_fence
#cgo nocallback gx_worker_fence
#cgo noescape gx_worker_flush
#cgo nocallback gx_worker_flush
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Worker makes progress on the operations of its endpoints and receives what others send to its
// address. WorkerParams.Shared says which goroutines may use it.
type Worker struct {
	ctx       *Context
	c         *C.gx_worker
	shared    bool
	mu        sync.Mutex // held around everything below and every call into UCX, when shared
	maxHeader int
	eps       map[*C.gx_ep]*Endpoint
	inboxes   map[uint8]*Inbox
	keys      map[*RKey]struct{}
	slots     []*slot // slots by index-1
	free      *slot
	chunks    []*C.gx_slot
	events    uint64 // how often progress found something to do, and Signals
	sleepers  int    // goroutines asleep on the event descriptor
}

// NewWorker makes a worker of the context. It fails with the status of a device that UCX cannot open.
func (c *Context) NewWorker(p WorkerParams) (*Worker, error) {
	if err := c.use("open worker"); err != nil {
		return nil, err
	}
	name := optionalString(p.Name)
	defer C.free(unsafe.Pointer(name))
	detail := newDetail()
	defer detail.free()
	w := &Worker{
		ctx: c, shared: p.Shared,
		eps: map[*C.gx_ep]*Endpoint{}, inboxes: map[uint8]*Inbox{}, keys: map[*RKey]struct{}{},
	}
	wakeup, messages := cbool(c.features&FeatureWakeup != 0), cbool(c.features&FeatureAM != 0)
	if st := Status(C.gx_worker_create(c.c, wakeup, messages, name, &w.c, detail.c)); st != OK {
		c.users.Add(-1)
		return nil, &Error{Op: "open worker", Status: st, Detail: detail.text()}
	}
	var header C.size_t
	if messages != 0 && Status(C.gx_worker_max_header(w.c, &header)) == OK {
		w.maxHeader = int(header)
	}
	return w, nil
}

func cbool(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func (w *Worker) lock() {
	if w.shared {
		w.mu.Lock()
	}
}

func (w *Worker) unlock() {
	if w.shared {
		w.mu.Unlock()
	}
}

// open locks the worker if it can still be used.
func (w *Worker) open(op string) error {
	w.lock()
	if w.c == nil {
		w.unlock()
		return &Error{Op: op, Status: ErrInvalidParam, Detail: "the worker is closed"}
	}
	return nil
}

// Context returns the context that the worker was made from.
func (w *Worker) Context() *Context { return w.ctx }

// Address returns what another process needs to connect an endpoint to this worker. It is opaque, and a few
// hundred bytes long.
func (w *Worker) Address() ([]byte, error) { return w.address(false) }

// NetAddress returns an address without what only processes on the same host could use. It is shorter.
func (w *Worker) NetAddress() ([]byte, error) { return w.address(true) }

func (w *Worker) address(netOnly bool) ([]byte, error) {
	if err := w.open("worker address"); err != nil {
		return nil, err
	}
	defer w.unlock()
	var a *C.ucp_address_t
	var n C.size_t
	if st := Status(C.gx_worker_address(w.c, cbool(netOnly), &a, &n)); st != OK {
		return nil, &Error{Op: "worker address", Status: st}
	}
	defer C.gx_worker_release_address(w.c, a)
	return C.GoBytes(unsafe.Pointer(a), C.int(n)), nil
}

// Progress advances communication without waiting, and returns how much there was to do: 0 when
// nothing happened. Operations of this worker complete, and messages arrive at it, only inside Progress
// or a wait.
func (w *Worker) Progress() int {
	w.lock()
	defer w.unlock()
	if w.c == nil {
		return 0
	}
	n := int(C.gx_progress(w.c))
	w.progressed(n)
	return n
}

// progressed follows every progress made: it takes back the slots of abandoned operations that
// completed, and wakes goroutines that sleep for a completion which this one has just collected.
func (w *Worker) progressed(n int) {
	for w.c.done != 0 {
		s := w.slots[w.c.done-1]
		w.c.done = s.c.next_done
		w.release(s)
	}
	if n > 0 {
		w.events++
		if w.sleepers > 0 {
			C.gx_signal(w.c)
		}
	}
}

// Fence orders: what was posted on this worker before takes effect at each target before what is posted
// after. It does not wait, and says nothing about completion.
func (w *Worker) Fence() error {
	if err := w.open("fence"); err != nil {
		return err
	}
	st := Status(C.gx_worker_fence(w.c))
	w.unlock()
	if st != OK {
		return &Error{Op: "fence", Status: st}
	}
	return nil
}

// Flush posts a request that completes when everything posted on this worker before it is complete, at the origin and
// at the targets. The request fails when one of the worker's endpoints has failed and has not been closed yet.
func (w *Worker) Flush() (Request, error) {
	if err := w.open("flush worker"); err != nil {
		return Request{}, err
	}
	defer w.unlock()
	s := w.take()
	if s == nil {
		return Request{}, &Error{Op: "flush worker", Status: ErrNoMemory}
	}
	return w.posted(s, C.gx_worker_flush(w.c, s.c), "flush worker")
}

// Failures counts the endpoints of this worker that have failed so far. It never crosses into C, so it
// is cheap enough to poll.
func (w *Worker) Failures() int {
	w.lock()
	defer w.unlock()
	if w.c == nil {
		return 0
	}
	return int(atomic.LoadUint32((*uint32)(unsafe.Pointer(&w.c.failures))))
}

// NextFailed returns an endpoint that has failed since the last call, or nil: each one once, unless it
// is closed before. Endpoint.Err says why.
func (w *Worker) NextFailed() *Endpoint {
	w.lock()
	defer w.unlock()
	if w.c == nil || w.c.failed_eps == 0 {
		return nil
	}
	return w.eps[C.gx_next_failed(w.c)]
}

// Print writes the state of the worker as text. It fails with the error of to.
func (w *Worker) Print(to io.Writer) error {
	if err := w.open("print worker"); err != nil {
		return err
	}
	defer w.unlock()
	return printText(to, "print worker", func(text **C.char, n *C.size_t) C.int32_t {
		return C.gx_worker_print(w.c, text, n)
	})
}

// closeTime bounds how long Close waits for peers: once for flushes, once for disconnecting.
const closeTime = 500 * time.Millisecond

// Close flushes and disconnects the endpoints that are still open, aborting those that cannot be flushed
// within half a second, drops the messages that were not read, and releases the worker. Requests
// that have not completed are ErrCanceled from then on.
func (w *Worker) Close() {
	w.lock()
	defer w.unlock()
	if w.c == nil {
		return
	}
	flushed := w.forEach(func(ep *Endpoint, s *slot) C.int32_t { return C.gx_ep_flush(ep.c, s.c) })
	w.forEach(func(ep *Endpoint, s *slot) C.int32_t { return ep.detach(s, !flushed[ep]) })
	for id, in := range w.inboxes {
		C.gx_inbox_destroy(in.c, C.uint32_t(id))
		in.c = nil
	}
	w.inboxes = nil
	for k := range w.keys {
		k.free()
	}
	C.gx_worker_destroy(w.c)
	w.dropSlots()
	w.c = nil
	w.ctx.users.Add(-1)
}

// forEach posts an operation on every endpoint, waits for them, but not longer than closeTime, and
// returns the endpoints on which it succeeded.
func (w *Worker) forEach(post func(ep *Endpoint, s *slot) C.int32_t) map[*Endpoint]bool {
	succeeded := map[*Endpoint]bool{}
	pending := map[*Endpoint]*slot{}
	for _, ep := range w.eps {
		s := w.take()
		if s == nil {
			continue
		}
		if st := Status(post(ep, s)); st == InProgress {
			pending[ep] = s
		} else {
			succeeded[ep] = st == OK
			w.release(s)
		}
	}
	for end := time.Now().Add(closeTime); len(pending) > 0 && time.Now().Before(end); {
		C.gx_progress_until(w.c, nil, C.uint32_t(spinTime))
		for ep, s := range pending {
			if s.complete() {
				succeeded[ep] = s.status() == OK
				w.release(s)
				delete(pending, ep)
			}
		}
	}
	return succeeded
}
