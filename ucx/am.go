//go:build cgo

package ucx

// Active messages. C queues what arrives for an id in that id's inbox, in the order of arrival; Go takes
// it out when it likes. Small payloads are copied as they arrive, large ones stay in UCX's buffers until
// the message is freed, and rendezvous payloads stay at the sender until they are asked for.

/*
#cgo noescape gx_am_send_copy
#cgo nocallback gx_am_send_copy
#cgo nocallback gx_am_send_hold
#cgo nocallback gx_msg_recv_hold
#cgo noescape gx_msg_free
#cgo nocallback gx_msg_free
#include "shim.h"
*/
import "C"

import (
	"context"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// MaxHeader returns the size of the longest header of an active message that this worker's transports can send.
func (w *Worker) MaxHeader() int { return w.maxHeader }

// SendAM sends an active message: a header of at most Worker.MaxHeader bytes and a payload, to the inbox
// of that id at the peer, where a message without an inbox is dropped. Both buffers may be reused when the
// request completes (at once if they are no longer than CopyMax together). A completed rendezvous says
// that the receiver has fetched or dropped the payload. Messages on one endpoint arrive in order if they
// use the same protocol. It fails with ErrExceedsLimit if the header is longer than Worker.MaxHeader.
func (ep *Endpoint) SendAM(id uint8, header, data []byte, flags AMFlags) (Request, error) {
	const op = "send active message"
	if err := ep.w.ctx.need(op, FeatureAM, "FeatureAM"); err != nil {
		return Request{}, err
	}
	if len(header) > ep.w.maxHeader {
		return Request{}, &Error{Op: op, Status: ErrExceedsLimit,
			Detail: fmt.Sprintf("a header of %d bytes, at most %d: put the rest into the payload", len(header), ep.w.maxHeader)}
	}
	s, err := ep.begin(op)
	if err != nil {
		return Request{}, err
	}
	w := ep.w
	defer w.unlock()
	h, d := unsafe.SliceData(header), unsafe.SliceData(data)
	if len(header)+len(data) <= CopyMax {
		return w.posted(s, C.gx_am_send_copy(ep.c, s.c, C.uint32_t(id), unsafe.Pointer(h), C.uint64_t(len(header)),
			unsafe.Pointer(d), C.uint64_t(len(data)), C.uint32_t(flags)), op)
	}
	if len(header) > 0 {
		s.hold(h)
	}
	if len(data) > 0 {
		s.hold(d)
	}
	return w.posted(s, C.gx_am_send_hold(ep.c, s.c, C.uint32_t(id), unsafe.Pointer(h), C.uint64_t(len(header)),
		unsafe.Pointer(d), C.uint64_t(len(data)), C.uint32_t(flags)), op)
}

// Dropped returns how many active messages have arrived at this worker for which there was no inbox.
func (w *Worker) Dropped() int {
	w.lock()
	defer w.unlock()
	if w.c == nil {
		return 0
	}
	return int(w.c.dropped)
}

// Inbox is the queue of the active messages of one id that have arrived at a worker.
type Inbox struct {
	w  *Worker
	id uint8
	c  *C.gx_inbox // the inbox in C; nil once closed
}

// NewInbox starts to receive the active messages of an id. There can be one inbox for each: a
// second one is ErrAlreadyExists.
func (w *Worker) NewInbox(id uint8) (*Inbox, error) {
	if err := w.ctx.need("open inbox", FeatureAM, "FeatureAM"); err != nil {
		return nil, err
	}
	if err := w.open("open inbox"); err != nil {
		return nil, err
	}
	defer w.unlock()
	if w.inboxes[id] != nil {
		return nil, &Error{Op: "open inbox", Status: ErrAlreadyExists,
			Detail: fmt.Sprintf("active message id %d has an inbox", id)}
	}
	var st C.int32_t
	c := C.gx_inbox_create(w.c, C.uint32_t(id), &st)
	if c == nil {
		return nil, &Error{Op: "open inbox", Status: Status(st)}
	}
	in := &Inbox{w: w, id: id, c: c}
	w.inboxes[id] = in
	return in, nil
}

// Len returns how many messages wait in the inbox.
func (in *Inbox) Len() int {
	in.w.lock()
	defer in.w.unlock()
	if in.c == nil {
		return 0
	}
	return int(atomic.LoadUint64((*uint64)(unsafe.Pointer(&in.c.queued))))
}

// Lost returns how many messages were dropped because there was no memory to queue them in.
func (in *Inbox) Lost() int {
	in.w.lock()
	defer in.w.unlock()
	if in.c == nil {
		return 0
	}
	return int(in.c.lost)
}

// Next takes the oldest message out of the inbox. It makes no progress and does not cross into C; false
// says that the inbox is empty.
func (in *Inbox) Next() (Message, bool) {
	in.w.lock()
	defer in.w.unlock()
	if in.c == nil || in.c.head == nil {
		return Message{}, false
	}
	m := in.c.head
	in.c.head = m.next
	if in.c.head == nil {
		in.c.tail = nil
	}
	atomic.AddUint64((*uint64)(unsafe.Pointer(&in.c.queued)), ^uint64(0))
	return Message{w: in.w, c: m}, true
}

// Receive takes the oldest message out of the inbox, making progress until there is one. It fails with the error of
// ctx, or with ErrCanceled when the inbox is closed meanwhile.
func (in *Inbox) Receive(ctx context.Context) (Message, error) {
	for {
		if err := in.w.await(ctx, goal{in: in}); err != nil {
			return Message{}, err
		}
		if m, ok := in.Next(); ok {
			return m, nil
		}
		if in.closed() {
			return Message{}, &Error{Op: "receive", Status: ErrCanceled, Detail: "the inbox is closed"}
		}
	}
}

func (in *Inbox) closed() bool {
	in.w.lock()
	defer in.w.unlock()
	return in.c == nil
}

// Close stops receiving and drops the messages that are in the inbox. Messages taken out of it stay valid.
func (in *Inbox) Close() {
	in.w.lock()
	defer in.w.unlock()
	if in.c == nil {
		return
	}
	C.gx_inbox_destroy(in.c, C.uint32_t(in.id))
	in.c = nil
	delete(in.w.inboxes, in.id)
}

// Message is an active message that was received. It must be freed before its worker is closed, and is
// not to be copied once it has been used.
type Message struct {
	w *Worker
	c *C.gx_msg
}

// Header returns the header, in memory that is valid until Free.
func (m *Message) Header() []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(m.c), C.sizeof_gx_msg)), int(m.c.header_len))
}

// Len returns the number of bytes of the payload.
func (m *Message) Len() int { return int(m.c.data_len) }

// Rendezvous reports whether the payload is still at the sender: Recv fetches it.
func (m *Message) Rendezvous() bool { return m.c.rendezvous != 0 }

// Data returns the payload, in memory that is valid until Free; nil if Rendezvous, when Recv has it.
func (m *Message) Data() []byte {
	if m.Rendezvous() || m.c.data == nil {
		return nil
	}
	return unsafe.Slice((*byte)(m.c.data), int(m.c.data_len))
}

// Recv copies the payload to dst, fetching it from the sender in a rendezvous, and can be called once
// for such a message. dst is filled when the request completes. A dst shorter than Len is
// ErrMessageTruncated, and nothing is received. A second call is ErrInvalidParam.
func (m *Message) Recv(dst []byte) (Request, error) {
	const op = "receive active message"
	if len(dst) < m.Len() {
		return Request{}, &Error{Op: op, Status: ErrMessageTruncated,
			Detail: fmt.Sprintf("%d bytes do not fit a buffer of %d", m.Len(), len(dst))}
	}
	if !m.Rendezvous() || m.Len() == 0 { // of an empty rendezvous, Free tells the sender
		copy(dst, m.Data())
		return Request{}, nil
	}
	if err := m.w.open(op); err != nil {
		return Request{}, err
	}
	defer m.w.unlock()
	if m.c.data == nil {
		return Request{}, &Error{Op: op, Status: ErrInvalidParam, Detail: "the message was received before"}
	}
	s := m.w.take()
	if s == nil {
		return Request{}, &Error{Op: op, Status: ErrNoMemory}
	}
	p := unsafe.SliceData(dst)
	s.hold(p)
	return m.w.posted(s, C.gx_msg_recv_hold(m.w.c, s.c, m.c, unsafe.Pointer(p)), op)
}

// Free gives the message's memory back. The payload of a rendezvous that was not received is dropped,
// and its sender is told so.
func (m *Message) Free() {
	if m.c == nil {
		return
	}
	m.w.lock()
	defer m.w.unlock()
	if m.w.c != nil {
		C.gx_msg_free(m.w.c, m.c)
	}
	m.c = nil
}
