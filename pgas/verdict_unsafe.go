package pgas

// A member that finds out that its team is not in step leaves what it has found in its slot, before it
// poisons its entry. The others take it from there: so all members return the same error.

import (
	"context"
	"errors"
	"strings"
	"unsafe"
)

const (
	verdictOff   = controlOff + 1024
	verdictBytes = signalsOff - verdictOff
)

// A verdict is the text of an error. For a *MismatchError that is a line for the call, and one for each group
// of PEs; for an *AbortedError a line for the call, and the reason.
type verdict struct {
	n      uint64
	reason uint64 // what the error wraps: one of the constants below
	pe     int64  // the PE that gave up
	text   [verdictBytes - 24]byte
}

// What the error of a verdict wraps.
const (
	isMismatch uint64 = iota
	isAborted
	isCanceled
	isLate
)

var _ [1024 - unsafe.Sizeof(control{})]byte

func (b board) verdict() *verdict { return (*verdict)(unsafe.Add(b.p, verdictOff)) }

func (v *verdict) store(err error) {
	var lines []string
	switch e := err.(type) {
	case *MismatchError:
		v.reason = isMismatch
		lines = append([]string{e.Call}, e.Calls...)
	case *AbortedError:
		v.pe, v.reason = int64(e.PE), isAborted
		if errors.Is(e, context.Canceled) {
			v.reason = isCanceled
		} else if errors.Is(e, context.DeadlineExceeded) {
			v.reason = isLate
		}
		lines = []string{e.Call, e.Err.Error()}
	}
	v.n = uint64(copy(v.text[:], strings.Join(lines, "\n")))
}

func (v *verdict) load() error {
	call, rest, _ := strings.Cut(string(v.text[:min(v.n, uint64(len(v.text)))]), "\n")
	var is error
	switch v.reason {
	case isMismatch:
		return &MismatchError{Call: call, Calls: strings.Split(rest, "\n")}
	case isCanceled:
		is = context.Canceled
	case isLate:
		is = context.DeadlineExceeded
	}
	return &AbortedError{PE: int(v.pe), Call: call, Err: remoteCause(rest, is)}
}

// verdictOf is what member i has found, or nil if it does not answer.
func (t *Team) verdictOf(i int) error {
	ctx, cancel := context.WithTimeout(t.w.n.ctx, peekTime)
	defer cancel()
	var v verdict
	b := unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))
	if t.w.n.channel(t.pes[i]).Get(ctx, t.pes[i], b, uint64(slotOff(t.slot)+verdictOff)) != nil {
		return nil
	}
	return v.load()
}
