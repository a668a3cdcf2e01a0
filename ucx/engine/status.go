package engine

import "fmt"

// LostError says that operations to a PE could not be completed, and will not be.
type LostError struct {
	PE     int
	Reason Reason
	Status string // UCX's name of what it saw
}

// Reason is why operations are lost.
type Reason uint8

// The reasons.
const (
	Gone        Reason = iota // its end of the connection is closed: the process has died
	Silent                    // it has owed an answer for too long
	Unreachable               // UCX has no way to it
	Broken                    // anything else
)

func (e *LostError) Error() string {
	switch e.Reason {
	case Gone:
		return "its connection is gone: the process has died, or its host was cut off (" + e.Status + ")"
	case Silent:
		return "it has not answered for too long: it is stopped, or its host is gone; a longer PGAS_PEER_TIMEOUT waits longer"
	case Unreachable:
		return "UCX has no transport that reaches it: unset UCX_TLS and UCX_NET_DEVICES, or let them name one that does, such as tcp (" + e.Status + ")"
	}
	return fmt.Sprintf("UCX could not carry out an operation (%s)", e.Status)
}
