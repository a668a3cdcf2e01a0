//go:build cgo

package ucx

// Endpoint: a worker's connection to another worker.

/*
#cgo noescape gx_ep_flush
#cgo nocallback gx_ep_flush
#include "shim.h"
*/
import "C"

import (
	"io"
	"sync/atomic"
	"unsafe"
)

// Endpoint is a connection from a worker to the worker whose address it was given. It is made when it is
// first used.
type Endpoint struct {
	w *Worker
	c *C.gx_ep // the endpoint in C; nil once closed
}

// NewEndpoint makes an endpoint to the worker with the given address. Nothing is sent, and nothing is
// allocated in UCX, until it is used; an address that no transport reaches is reported then, as
// ErrUnreachable. It fails with ErrInvalidAddr if the address is empty.
func (w *Worker) NewEndpoint(address []byte, p EndpointParams) (*Endpoint, error) {
	if len(address) == 0 {
		return nil, &Error{Op: "open endpoint", Status: ErrInvalidAddr, Detail: "the address is empty"}
	}
	if err := w.open("open endpoint"); err != nil {
		return nil, err
	}
	defer w.unlock()
	c := C.gx_ep_create(w.c, unsafe.Pointer(unsafe.SliceData(address)), C.size_t(len(address)), cbool(!p.Trusting))
	if c == nil {
		return nil, &Error{Op: "open endpoint", Status: ErrNoMemory}
	}
	ep := &Endpoint{w: w, c: c}
	w.eps[c] = ep
	return ep, nil
}

// Worker returns the worker that the endpoint belongs to.
func (ep *Endpoint) Worker() *Worker { return ep.w }

// open locks the worker if the endpoint can still be used.
func (ep *Endpoint) open(op string) error {
	w := ep.w
	w.lock()
	if ep.c == nil || w.c == nil {
		w.unlock()
		return &Error{Op: op, Status: ErrNotConnected, Detail: "the endpoint is closed"}
	}
	return nil
}

// begin locks the worker and takes a slot for an operation.
func (ep *Endpoint) begin(op string) (*slot, error) {
	if err := ep.open(op); err != nil {
		return nil, err
	}
	if s := ep.w.take(); s != nil {
		return s, nil
	}
	ep.w.unlock()
	return nil, &Error{Op: op, Status: ErrNoMemory}
}

// Connect makes the connection now instead of at the first use. It does not wait for the peer, and fails
// with ErrUnreachable if no transport reaches it.
func (ep *Endpoint) Connect() error {
	if err := ep.open("connect"); err != nil {
		return err
	}
	defer ep.w.unlock()
	if st := Status(C.gx_ep_connect(ep.c)); st != OK {
		return ep.w.failed("connect", st)
	}
	return nil
}

// Err returns nil while the endpoint works, the status that UCX reported once its peer died or the connection broke,
// and ErrNotConnected once the endpoint is closed. It makes no progress: a failure is noticed by calls that do.
func (ep *Endpoint) Err() error {
	if err := ep.open("endpoint"); err != nil {
		return err
	}
	defer ep.w.unlock()
	if st := Status(atomic.LoadInt32((*int32)(unsafe.Pointer(&ep.c.status)))); st != OK {
		return &Error{Op: "endpoint", Status: st}
	}
	return nil
}

// Flush posts a request that completes when everything posted on the endpoint before it is complete, at the origin and
// at the target.
func (ep *Endpoint) Flush() (Request, error) {
	s, err := ep.begin("flush")
	if err != nil {
		return Request{}, err
	}
	defer ep.w.unlock()
	return ep.w.posted(s, C.gx_ep_flush(ep.c, s.c), "flush")
}

// Print writes the lanes and protocols of the endpoint as text, connecting it if need be. It fails with the
// error of to.
func (ep *Endpoint) Print(to io.Writer) error {
	if err := ep.open("print endpoint"); err != nil {
		return err
	}
	defer ep.w.unlock()
	return printText(to, "print endpoint", func(text **C.char, n *C.size_t) C.int32_t {
		return C.gx_ep_print(ep.c, text, n)
	})
}

// Close flushes the endpoint and disconnects it. The request completes when the peer has everything. The
// endpoint cannot be used from the call on. The keys unpacked for it must be closed before.
func (ep *Endpoint) Close() (Request, error) { return ep.close("close endpoint", false) }

// Abort disconnects without asking the peer. Operations that have not completed fail with ErrCanceled.
// It is the way to close an endpoint that has failed; used on one that works, the peer sees its own
// endpoint fail.
func (ep *Endpoint) Abort() (Request, error) { return ep.close("abort endpoint", true) }

func (ep *Endpoint) close(op string, force bool) (Request, error) {
	s, err := ep.begin(op)
	if err != nil {
		return Request{}, err
	}
	defer ep.w.unlock()
	if ep.c.status < 0 {
		force = true // a failed endpoint cannot be flushed
	}
	return ep.w.posted(s, ep.detach(s, force), op)
}

// detach closes the connection; the slot frees what is left of it when it is released.
func (ep *Endpoint) detach(s *slot, force bool) C.int32_t {
	c := ep.c
	delete(ep.w.eps, c)
	ep.c, s.ep = nil, c
	return C.gx_ep_close(c, s.c, cbool(force))
}
