package pgas

// A member that finds out that its team is not in step leaves what it has found in its slot, before it
// poisons its entry. The others take it from there: so all members return the same error.

import (
	"context"
	"strings"
	"unsafe"
)

const (
	verdictOff   = controlOff + 1024
	verdictBytes = signalsOff - verdictOff
)

// A verdict is the text of a *MismatchError: a line for the call, and one for each group of PEs.
type verdict struct {
	n    uint64
	text [verdictBytes - 8]byte
}

var _ [1024 - unsafe.Sizeof(control{})]byte

func (b board) verdict() *verdict { return (*verdict)(unsafe.Add(b.p, verdictOff)) }

func (v *verdict) store(e *MismatchError) {
	v.n = uint64(copy(v.text[:], strings.Join(append([]string{e.Call}, e.Calls...), "\n")))
}

func (v *verdict) load() *MismatchError {
	lines := strings.Split(string(v.text[:min(v.n, uint64(len(v.text)))]), "\n")
	return &MismatchError{Call: lines[0], Calls: lines[1:]}
}

// verdictOf is what member i has found, or nil if it does not answer.
func (t *Team) verdictOf(i int) *MismatchError {
	ctx, cancel := context.WithTimeout(t.w.ctx, peekTime)
	defer cancel()
	var v verdict
	b := unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))
	if t.w.wire.courier(t.pes[i]).Get(ctx, t.pes[i], b, uint64(slotOff(t.slot)+verdictOff)) != nil {
		return nil
	}
	return v.load()
}
