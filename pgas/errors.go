package pgas

import (
	"context"
	"fmt"
	"strings"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// ErrClosed is why a call on a closed World fails; test for it with errors.Is. A call that returns no error panics
// with *UsageError.
var ErrClosed = node.ErrClosed

// PeerError reports that a PE of the job has died or cannot be reached. Calls that block return it, or panic with it
// if they return no error. An operation that returns nothing is reported by the next call that blocks.
//
// It is an alias of a type of package transport. Its fields are
//
//	PE   int    // number in the job of the PE that is lost
//	Host string // name of the host that the PE ran on
//	Err  error  // what happened to it; Unwrap returns it
type PeerError = transport.PeerError

// UsageError is the panic of a call that the program misuses: a bug of the program, like a slice index out of range.
// Main prints it as one line.
type UsageError struct {
	Op  string // the operation, as the program spells it
	Msg string // what is wrong, and what would be right
	At  string // the program's call, as in "solver/main.go:40", or "" if it is not known
}

func (e *UsageError) Error() string {
	if e.At != "" {
		return "pgas: " + e.Op + " at " + e.At + ": " + e.Msg
	}
	return "pgas: " + e.Op + ": " + e.Msg
}

// misuse panics with a *UsageError.
func misuse(op, format string, args ...any) {
	panic(&UsageError{Op: op, Msg: fmt.Sprintf(format, args...), At: callsite.Program()})
}

// mismatch returns nil if the members of a team have all said the same of their call, and *MismatchError otherwise.
// said is in the order of the team, and call is what this PE has said.
func mismatch(call string, said []string) error {
	calls := coll.GroupByCall(said)
	if len(calls) <= 1 {
		return nil
	}
	return &MismatchError{Call: call, Calls: calls}
}

// HeapFullError reports that a symmetric allocation does not fit the heap. Every PE gets the same error, and the heap
// is unchanged.
type HeapFullError struct {
	Bytes uint64 // the size of the allocation
	InUse uint64 // bytes of the heap that live allocations occupy
	Max   uint64 // bytes that the heap may grow to: PGAS_HEAP_MAX
}

func (e *HeapFullError) Error() string {
	return fmt.Sprintf("symmetric heap is full: %d bytes asked for, %d of %d in use on every PE; set PGAS_HEAP_MAX to allow more, or free something", e.Bytes, e.InUse, e.Max)
}

// MismatchError reports that the members of a team have called different collectives, or one collective with
// different arguments. Every member gets the same list.
type MismatchError struct {
	Call  string   // the collective that this PE called
	Calls []string // "PE 0: …", one line for each group of PEs that made the same call
}

func (e *MismatchError) Error() string {
	s := "PEs disagree in a collective call"
	for _, c := range e.Calls {
		s += "; " + c
	}
	return s + "; every PE must make the same collective calls in the same order, from the same binary"
}

// AbortedError reports that a member of a team has given up a collective call, because the member's context had ended
// before the call, or ended before all members had entered it. That member returns the cause of its context. All
// other members return this error, which wraps context.Canceled or context.DeadlineExceeded accordingly. The team
// cannot be used afterwards.
type AbortedError struct {
	PE   int    // number in the job of the PE that gave up the call; -1 if it is not known
	Call string // the call that it gave up
	Err  error  // why the call was given up
}

func (e *AbortedError) Error() string {
	if e.PE < 0 {
		return fmt.Sprintf("the members of the team are not in step in %s: %v", e.Call, e.Err)
	}
	return fmt.Sprintf("PE %d has given up %s: %v", e.PE, e.Call, e.Err)
}

// Unwrap returns Err.
func (e *AbortedError) Unwrap() error { return e.Err }

// refuses reports whether a call with ctx must fail without doing anything: ctx has ended, or w is closed. Every call
// that takes a context tests this first.
func (w *World) refuses(ctx context.Context) bool {
	return hasEnded(ctx) || w.n.Closed.Load()
}

// refusal returns the error of a refused call of the given name.
func (w *World) refusal(ctx context.Context, name string) error {
	mustHaveContext(name, ctx)
	return fmt.Errorf("%s%s: %w", name, callsite.At(), w.n.EndedError(ctx))
}

// locatedError returns err of a call with the place of the call in the program, unless err names that already.
func locatedError(call string, err error) error {
	site := callsite.At()
	if site == "" || strings.Contains(err.Error(), site+":") {
		return err
	}
	return fmt.Errorf("%s%s: %w", call, site, err)
}

// publicErrors returns the functions that make the errors of collectives, whose types are those of package pgas.
func publicErrors() coll.ErrorMakers {
	return coll.ErrorMakers{
		Misuse:       func(op, msg string) { panic(&UsageError{Op: op, Msg: msg, At: callsite.Program()}) },
		Mismatch:     func(call string, calls []string) error { return &MismatchError{Call: call, Calls: calls} },
		Aborted:      func(pe int, call string, err error) error { return &AbortedError{PE: pe, Call: call, Err: err} },
		TooManyTeams: func(team string, pe, teams int) error { return &TooManyTeamsError{team, pe, teams} },
	}
}

// Lost returns a *PeerError if PE pe is known to be lost, or any PE of the job if pe is -1, and nil if not. The error
// is about the first PE of the job that was lost, which may be another one: pe has ended since. It waits for nothing
// and moves nothing. Accesses to the memory of a PE of this host go on after its death, so a library above pgas asks
// this before it relies on such a PE: it costs some nanoseconds while no PE of the job is lost. It panics with
// *UsageError if w is nil.
func (w *World) Lost(pe int) error {
	w.mustBeOpen("World.Lost")
	if w.n.Job.Segment.Header.Failed.Load() == 0 {
		return nil
	}
	if pe < 0 {
		return w.n.PeerFailure()
	}
	return w.n.LossOf(pe)
}
