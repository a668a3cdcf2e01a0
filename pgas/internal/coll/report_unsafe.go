package coll

// Reports. A member that finds a mismatch, or gives up a call, stores the reason in its slot before it poisons its
// arrival record. The other members read the reason from that slot: so all members return the same error.

import (
	"context"
	"errors"
	"strings"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

const (
	reportOff   = syncOff + 1024
	reportBytes = signalsOff - reportOff
)

// A report is the text of an error. For a *MismatchError that is a line for the call, and one for each group
// of PEs; for an *AbortedError a line for the call, and the reason.
type report struct {
	length uint64
	reason uint64 // what the error wraps: one of the constants below
	pe     int64  // the PE that gave up
	text   [reportBytes - 24]byte
}

// What the error of a report wraps.
const (
	reasonMismatch uint64 = iota
	reasonAborted
	reasonCanceled
	reasonLate
)

var _ [1024 - unsafe.Sizeof(syncWords{}) - unsafe.Sizeof(detail{})]byte

func (b slotView) report() *report { return (*report)(unsafe.Add(b.p, reportOff)) }

// A reason is why a call has failed for all members of a group: they are in different calls, or one has given up.
type reason struct {
	call  string   // the call that this PE made, or that was given up
	calls []string // what the members made, if they are in different calls
	pe    int      // the PE of the job that gave up; -1 if it is not known
	err   error    // why the PE gave up
}

// errorOf returns the error that a program gets for r.
func (g *Group) errorOf(r *reason) error {
	if r.calls != nil {
		return g.set.errors.Mismatch(r.call, r.calls)
	}
	return g.set.errors.Aborted(r.pe, r.call, r.err)
}

func (v *report) store(r *reason) {
	lines := []string{r.call}
	switch {
	case r.calls != nil:
		v.reason = reasonMismatch
		lines = append(lines, r.calls...)
	case errors.Is(r.err, context.Canceled):
		v.reason = reasonCanceled
	case errors.Is(r.err, context.DeadlineExceeded):
		v.reason = reasonLate
	default:
		v.reason = reasonAborted
	}
	if r.calls == nil {
		v.pe = int64(r.pe)
		lines = append(lines, r.err.Error())
	}
	v.length = uint64(copy(v.text[:], strings.Join(lines, "\n")))
}

func (v *report) load() *reason {
	call, rest, _ := strings.Cut(string(v.text[:min(v.length, uint64(len(v.text)))]), "\n")
	var is error
	switch v.reason {
	case reasonMismatch:
		return &reason{call: call, calls: strings.Split(rest, "\n")}
	case reasonCanceled:
		is = context.Canceled
	case reasonLate:
		is = context.DeadlineExceeded
	}
	return &reason{call: call, pe: int(v.pe), err: remoteCause(rest, is)}
}

// reportOf returns the reason that member i has stored, or nil if that does not answer.
func (g *Group) reportOf(i int) *reason {
	ctx, cancel := context.WithTimeout(g.n.Ctx, node.PeekTime)
	defer cancel()
	var v report
	b := unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))
	if g.n.Channel(g.PEs[i]).Get(ctx, g.PEs[i], b, uint64(slotOff(g.Slot)+reportOff)) != nil {
		return nil
	}
	return v.load()
}
