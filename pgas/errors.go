package pgas

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/coll"
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

// AbortedError reports that a member of a team has given up a collective call, because its context had ended
// before the call, or ended before all members had entered it. The member itself returns its context's cause,
// all others this error, which wraps context.Canceled or context.DeadlineExceeded accordingly. The team cannot
// be used after it.
type AbortedError struct {
	PE   int    // number in the job of the PE that gave up the call; -1 if it is not known
	Call string // the call that it gave up
	Err  error  // why
}

func (e *AbortedError) Error() string {
	if e.PE < 0 {
		return fmt.Sprintf("the members of the team are not in step in %s: %v", e.Call, e.Err)
	}
	return fmt.Sprintf("PE %d has given up %s: %v", e.PE, e.Call, e.Err)
}

// Unwrap returns Err.
func (e *AbortedError) Unwrap() error { return e.Err }

// refuses reports whether a call with ctx must fail without doing anything. Every call that takes a context asks first.
func (w *World) refuses(ctx context.Context) bool {
	return hasEnded(ctx) || w.n.Closed.Load()
}

// refusal returns the error of a refused call of the given name.
func (w *World) refusal(ctx context.Context, name string) error {
	mustHaveContext(name, ctx)
	return fmt.Errorf("%s%s: %w", name, callsite.At(), w.n.EndedError(ctx))
}

// publicErrors makes the errors of collectives.
func publicErrors() coll.ErrorMakers {
	return coll.ErrorMakers{
		Misuse:       func(op, msg string) { panic(&UsageError{Op: op, Msg: msg}) },
		Mismatch:     func(call string, calls []string) error { return &MismatchError{Call: call, Calls: calls} },
		Aborted:      func(pe int, call string, err error) error { return &AbortedError{PE: pe, Call: call, Err: err} },
		TooManyTeams: func() error { return &TooManyTeamsError{} },
	}
}
