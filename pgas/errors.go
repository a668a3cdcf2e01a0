package pgas

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/transport"
)

// PeerError reports that a PE of the job died or cannot be reached. It is returned by the first call
// that blocks after the fact, and names the PE, its host and what happened to it.
type PeerError = transport.PeerError

// UsageError is what misuse panics with: a bug in the program, like a slice index out of range.
type UsageError struct {
	Op  string // the operation, as the program spells it
	Msg string // what is wrong, and what would be right
}

func (e *UsageError) Error() string { return "pgas: " + e.Op + ": " + e.Msg }

// misuse panics with a *UsageError.
func misuse(op, format string, args ...any) {
	panic(&UsageError{Op: op, Msg: fmt.Sprintf(format, args...)})
}

// HeapFullError reports that a symmetric allocation does not fit. It is the same on every PE, and the
// heap is as it was before the call.
type HeapFullError struct {
	Bytes uint64 // asked for
	InUse uint64
	Max   uint64
}

func (e *HeapFullError) Error() string {
	return fmt.Sprintf("symmetric heap is full: %d bytes asked for, %d of %d in use on every PE; set PGAS_HEAP_MAX to allow more, or free something", e.Bytes, e.InUse, e.Max)
}

// MismatchError reports that the PEs of a job entered one collective call with different arguments.
// Every PE gets the same list.
type MismatchError struct {
	Call  string   // the collective that this PE called
	Calls []string // "PE 0: …", one for each group of PEs that agree
}

func (e *MismatchError) Error() string {
	s := "PEs disagree in a collective call"
	for _, c := range e.Calls {
		s += "; " + c
	}
	return s + "; every PE must make the same collective calls in the same order, from the same binary"
}
