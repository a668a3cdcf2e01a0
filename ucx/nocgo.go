//go:build !cgo

package ucx

// The package as it is without cgo: the same declarations, of which NewContext and ReadConfig return
// ErrNotBuilt. The rest cannot be reached with anything but zero values, and answers ErrNotBuilt too.

import (
	"context"
	"io"
)

// Available reports whether this binary was built with UCX.
const Available = false

// Version returns the version of the UCX library in use: none.
func Version() string { return "" }

// Built returns the release whose headers this binary was compiled with: none.
func Built() string { return "" }

// Config is a set of UCX settings.
type Config struct{}

// ReadConfig returns ErrNotBuilt.
func ReadConfig(prefix, file string) (*Config, error) { return nil, ErrNotBuilt }

// Modify returns ErrNotBuilt.
func (c *Config) Modify(name, value string) error { return ErrNotBuilt }

// Print returns ErrNotBuilt.
func (c *Config) Print(to io.Writer, title string, flags PrintFlags) error { return ErrNotBuilt }

// Close does nothing.
func (c *Config) Close() {}

// Context holds the transports and devices that a process uses.
type Context struct{}

// NewContext returns ErrNotBuilt.
func NewContext(p Params) (*Context, error) { return nil, ErrNotBuilt }

// Warnings returns "".
func (c *Context) Warnings() string { return "" }

// Features returns 0.
func (c *Context) Features() Feature { return 0 }

// Print returns ErrNotBuilt.
func (c *Context) Print(to io.Writer) error { return ErrNotBuilt }

// Close returns ErrNotBuilt.
func (c *Context) Close() error { return ErrNotBuilt }

// NewWorker returns ErrNotBuilt.
func (c *Context) NewWorker(p WorkerParams) (*Worker, error) { return nil, ErrNotBuilt }

// MapMemory returns ErrNotBuilt.
func (c *Context) MapMemory(b []byte) (*Memory, error) { return nil, ErrNotBuilt }

// AllocMemory returns ErrNotBuilt.
func (c *Context) AllocMemory(n int) (*Memory, error) { return nil, ErrNotBuilt }

// Worker makes progress on the operations of its endpoints.
type Worker struct{}

// Context returns nil.
func (w *Worker) Context() *Context { return nil }

// Address returns ErrNotBuilt.
func (w *Worker) Address() ([]byte, error) { return nil, ErrNotBuilt }

// NetAddress returns ErrNotBuilt.
func (w *Worker) NetAddress() ([]byte, error) { return nil, ErrNotBuilt }

// Progress returns 0.
func (w *Worker) Progress() int { return 0 }

// Fence returns ErrNotBuilt.
func (w *Worker) Fence() error { return ErrNotBuilt }

// Flush returns ErrNotBuilt.
func (w *Worker) Flush() (Request, error) { return Request{}, ErrNotBuilt }

// Failures returns 0.
func (w *Worker) Failures() int { return 0 }

// NextFailed returns nil.
func (w *Worker) NextFailed() *Endpoint { return nil }

// Print returns ErrNotBuilt.
func (w *Worker) Print(to io.Writer) error { return ErrNotBuilt }

// Close does nothing.
func (w *Worker) Close() {}

// EventFD returns ErrNotBuilt.
func (w *Worker) EventFD() (int, error) { return -1, ErrNotBuilt }

// Arm returns ErrNotBuilt.
func (w *Worker) Arm() error { return ErrNotBuilt }

// Signal returns ErrNotBuilt.
func (w *Worker) Signal() error { return ErrNotBuilt }

// Wait returns ErrNotBuilt.
func (w *Worker) Wait(ctx context.Context) error { return ErrNotBuilt }

// MaxHeader returns 0.
func (w *Worker) MaxHeader() int { return 0 }

// Dropped returns 0.
func (w *Worker) Dropped() int { return 0 }

// NewEndpoint returns ErrNotBuilt.
func (w *Worker) NewEndpoint(address []byte, p EndpointParams) (*Endpoint, error) {
	return nil, ErrNotBuilt
}

// NewInbox returns ErrNotBuilt.
func (w *Worker) NewInbox(id uint8) (*Inbox, error) { return nil, ErrNotBuilt }

// Endpoint is a connection from a worker to another.
type Endpoint struct{}

// Worker returns nil.
func (ep *Endpoint) Worker() *Worker { return nil }

// Connect returns ErrNotBuilt.
func (ep *Endpoint) Connect() error { return ErrNotBuilt }

// Err returns ErrNotBuilt.
func (ep *Endpoint) Err() error { return ErrNotBuilt }

// Flush returns ErrNotBuilt.
func (ep *Endpoint) Flush() (Request, error) { return Request{}, ErrNotBuilt }

// Print returns ErrNotBuilt.
func (ep *Endpoint) Print(to io.Writer) error { return ErrNotBuilt }

// Close returns ErrNotBuilt.
func (ep *Endpoint) Close() (Request, error) { return Request{}, ErrNotBuilt }

// Abort returns ErrNotBuilt.
func (ep *Endpoint) Abort() (Request, error) { return Request{}, ErrNotBuilt }

// UnpackKey returns ErrNotBuilt.
func (ep *Endpoint) UnpackKey(packed []byte) (*RKey, error) { return nil, ErrNotBuilt }

// Put returns ErrNotBuilt.
func (ep *Endpoint) Put(src []byte, remote uint64, key *RKey) (Request, error) {
	return Request{}, ErrNotBuilt
}

// Get returns ErrNotBuilt.
func (ep *Endpoint) Get(dst []byte, remote uint64, key *RKey) (Request, error) {
	return Request{}, ErrNotBuilt
}

// PostAtomic returns ErrNotBuilt.
func (ep *Endpoint) PostAtomic(op AtomicOp, bytes int, operand, compare, remote uint64, key *RKey) error {
	return ErrNotBuilt
}

// FetchAtomic returns ErrNotBuilt.
func (ep *Endpoint) FetchAtomic(op AtomicOp, bytes int, operand, compare, remote uint64, key *RKey) (Request, error) {
	return Request{}, ErrNotBuilt
}

// SendAM returns ErrNotBuilt.
func (ep *Endpoint) SendAM(id uint8, header, data []byte, flags AMFlags) (Request, error) {
	return Request{}, ErrNotBuilt
}

// Memory is a range registered with UCX.
type Memory struct{}

// Bytes returns nil.
func (m *Memory) Bytes() []byte { return nil }

// Addr returns 0.
func (m *Memory) Addr() uint64 { return 0 }

// PackKey returns ErrNotBuilt.
func (m *Memory) PackKey() ([]byte, error) { return nil, ErrNotBuilt }

// Close returns ErrNotBuilt.
func (m *Memory) Close() error { return ErrNotBuilt }

// RKey is the right to reach one Memory of a peer.
type RKey struct{}

// Close does nothing.
func (k *RKey) Close() {}

// Request is an operation that was posted.
type Request struct{}

// Status returns ErrUnsupported.
func (r *Request) Status() Status { return ErrUnsupported }

// Value returns 0.
func (r *Request) Value() uint64 { return 0 }

// Wait returns ErrNotBuilt.
func (r *Request) Wait(ctx context.Context) error { return ErrNotBuilt }

// Cancel does nothing.
func (r *Request) Cancel() {}

// Free does nothing.
func (r *Request) Free() {}

// Inbox is the queue of the active messages of one id.
type Inbox struct{}

// Len returns 0.
func (in *Inbox) Len() int { return 0 }

// Lost returns 0.
func (in *Inbox) Lost() int { return 0 }

// Next finds no message.
func (in *Inbox) Next() (Message, bool) { return Message{}, false }

// Receive returns ErrNotBuilt.
func (in *Inbox) Receive(ctx context.Context) (Message, error) { return Message{}, ErrNotBuilt }

// Close does nothing.
func (in *Inbox) Close() {}

// Message is an active message that was received.
type Message struct{}

// Header returns nil.
func (m *Message) Header() []byte { return nil }

// Len returns 0.
func (m *Message) Len() int { return 0 }

// Rendezvous returns false.
func (m *Message) Rendezvous() bool { return false }

// Data returns nil.
func (m *Message) Data() []byte { return nil }

// Recv returns ErrNotBuilt.
func (m *Message) Recv(dst []byte) (Request, error) { return Request{}, ErrNotBuilt }

// Free does nothing.
func (m *Message) Free() {}
