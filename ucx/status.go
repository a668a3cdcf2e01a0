package ucx

// Status is what UCX says about an operation. A failure is an error value of its own, so that
// errors.Is(err, ucx.ErrUnreachable) works on every error of this package.
//
// The numbers are part of UCX's ABI; setup.c checks them at compile time.

import "errors"

// Status is a UCX status code: OK, InProgress, or one of the Err values. Every error that this package
// returns for a failed UCX call wraps one.
type Status int32

const (
	// OK: the operation is complete.
	OK Status = 0
	// InProgress: the operation has been accepted and is not complete yet.
	InProgress Status = 1
	// ErrNoMessage: nothing has arrived.
	ErrNoMessage Status = -1
	// ErrNoResource: a queue or buffer pool is full; make progress and try again.
	ErrNoResource Status = -2
	// ErrIO: the device or the kernel failed a transfer or a registration.
	ErrIO Status = -3
	// ErrNoMemory: memory could not be allocated or registered.
	ErrNoMemory Status = -4
	// ErrInvalidParam: an argument is wrong, or the context lacks the feature that the call needs.
	ErrInvalidParam Status = -5
	// ErrUnreachable: no enabled transport leads to the peer.
	ErrUnreachable Status = -6
	// ErrInvalidAddr: an address does not parse, or is outside the registered memory.
	ErrInvalidAddr Status = -7
	// ErrNotImplemented: no enabled transport implements the operation.
	ErrNotImplemented Status = -8
	// ErrMessageTruncated: the buffer is smaller than the message.
	ErrMessageTruncated Status = -9
	// ErrNoProgress: a progress call found nothing to do.
	ErrNoProgress Status = -10
	// ErrBufferTooSmall: the buffer cannot hold the result.
	ErrBufferTooSmall Status = -11
	// ErrNoElem: there is no such element.
	ErrNoElem Status = -12
	// ErrSomeConnectsFailed: some of the connections of a group could not be made.
	ErrSomeConnectsFailed Status = -13
	// ErrNoDevice: no usable transport or device is left by the configuration.
	ErrNoDevice Status = -14
	// ErrBusy: from Worker.Arm, events are waiting: make progress before sleeping.
	ErrBusy Status = -15
	// ErrCanceled: the operation was cancelled, or its endpoint or worker was closed by force.
	ErrCanceled Status = -16
	// ErrShmemSegment: a shared-memory segment could not be created or attached.
	ErrShmemSegment Status = -17
	// ErrAlreadyExists: the element is there already.
	ErrAlreadyExists Status = -18
	// ErrOutOfRange: an index or a size is outside what is allowed.
	ErrOutOfRange Status = -19
	// ErrTimedOut: the peer did not answer in time.
	ErrTimedOut Status = -20
	// ErrExceedsLimit: the request is larger than a limit of the transport.
	ErrExceedsLimit Status = -21
	// ErrUnsupported: the transport or the build cannot do this.
	ErrUnsupported Status = -22
	// ErrRejected: the peer refused the connection or the message.
	ErrRejected Status = -23
	// ErrNotConnected: the endpoint is closed or was never connected.
	ErrNotConnected Status = -24
	// ErrConnectionReset: the peer closed the connection or died.
	ErrConnectionReset Status = -25
	// ErrFirstLinkFailure: first of the range of failures of one link.
	ErrFirstLinkFailure Status = -40
	// ErrLastLinkFailure: last of the range of failures of one link.
	ErrLastLinkFailure Status = -59
	// ErrFirstEndpointFailure: first of the range of failures of one endpoint.
	ErrFirstEndpointFailure Status = -60
	// ErrEndpointTimeout: the peer stopped answering.
	ErrEndpointTimeout Status = -80
	// ErrLastEndpointFailure: last of the range of failures of one endpoint.
	ErrLastEndpointFailure Status = -89
)

var statusText = map[Status]string{
	OK:                      "complete",
	InProgress:              "in progress",
	ErrNoMessage:            "no message",
	ErrNoResource:           "out of send resources",
	ErrIO:                   "input/output error",
	ErrNoMemory:             "out of memory",
	ErrInvalidParam:         "invalid parameter",
	ErrUnreachable:          "peer is unreachable",
	ErrInvalidAddr:          "invalid address",
	ErrNotImplemented:       "not implemented by the transport",
	ErrMessageTruncated:     "message does not fit the buffer",
	ErrNoProgress:           "no progress",
	ErrBufferTooSmall:       "buffer is too small",
	ErrNoElem:               "no such element",
	ErrSomeConnectsFailed:   "some connections failed",
	ErrNoDevice:             "no usable device",
	ErrBusy:                 "events are waiting",
	ErrCanceled:             "cancelled",
	ErrShmemSegment:         "shared-memory segment failed",
	ErrAlreadyExists:        "already exists",
	ErrOutOfRange:           "out of range",
	ErrTimedOut:             "timed out",
	ErrExceedsLimit:         "exceeds a limit of the transport",
	ErrUnsupported:          "not supported",
	ErrRejected:             "rejected by the peer",
	ErrNotConnected:         "not connected",
	ErrConnectionReset:      "connection reset by the peer",
	ErrFirstLinkFailure:     "link failed",
	ErrLastLinkFailure:      "link failed",
	ErrFirstEndpointFailure: "endpoint failed",
	ErrEndpointTimeout:      "peer stopped answering",
	ErrLastEndpointFailure:  "endpoint failed",
}

// Error describes the status in a few lower-case words.
func (s Status) Error() string {
	if text, ok := statusText[s]; ok {
		return text
	}
	switch {
	case s.IsLinkFailure():
		return "link failed"
	case s.IsEndpointFailure():
		return "endpoint failed"
	}
	return "unknown status"
}

// Err returns the status as an error, nil unless it is a failure.
func (s Status) Err() error {
	if s >= OK {
		return nil
	}
	return s
}

// IsLinkFailure reports whether the status is in the range that UCX reserves for failed links.
func (s Status) IsLinkFailure() bool { return s <= ErrFirstLinkFailure && s >= ErrLastLinkFailure }

// IsEndpointFailure reports whether the status is in the range that UCX reserves for failed endpoints.
func (s Status) IsEndpointFailure() bool {
	return s <= ErrFirstEndpointFailure && s >= ErrLastEndpointFailure
}

// Error is a failed call: what was tried, what UCX said, and why as far as is known.
type Error struct {
	Op     string // the operation: "put", "open context", ...
	Status Status
	Detail string // more about the failure in one line; may be empty
}

func (e *Error) Error() string {
	text := "ucx: " + e.Op + ": " + e.Status.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns the status, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Status }

// ErrNotBuilt is returned by every constructor of a binary that was built without cgo.
var ErrNotBuilt = errors.New("ucx: this binary was built without UCX: install libucx-dev and a C compiler, and build with CGO_ENABLED=1")
