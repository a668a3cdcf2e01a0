package lockrecord

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// Trace is one PE's handle of a lock in the trace of the job and in the checks of its World. The zero Trace records
// nothing. One goroutine uses it at a time: the one that holds or takes the lock. It moves and orders nothing.
type Trace struct {
	rec  *record.PE // nil if there is no trace
	held Holders    // nil if nothing is checked
	off  uint64
	name string
	hold record.Mark
}

// Holders are the locks that a PE holds, as the checks of its World know them.
type Holders interface {
	// Add notes that n more goroutines of the PE hold the lock at offset off; n may be negative.
	Add(off uint64, name string, n int)
}

// NewTrace returns the trace of a lock of some kind at offset off. rec is nil if nothing is recorded, and held is nil
// if nothing is checked.
func NewTrace(rec *record.PE, held Holders, off uint64, kind string) Trace {
	t := Trace{rec: rec, held: held, off: off}
	if rec != nil && !rec.Traces() {
		t.rec = nil
	}
	if t.rec != nil || held != nil {
		t.name = fmt.Sprintf("%s at offset %d", kind, off)
	}
	if t.rec != nil {
		t.rec.RecordName(record.Word, t.name, off)
	}
	return t
}

// Begin returns the moment at which the PE begins to take the lock.
func (t *Trace) Begin() int64 {
	if t.rec == nil {
		return 0
	}
	return t.rec.Moment()
}

// Acquired records that the PE holds the lock from now on. If the PE has waited, it has done so since the moment of
// Begin.
func (t *Trace) Acquired(since int64, waited bool) {
	t.note(1)
	if t.rec == nil {
		return
	}
	if waited {
		t.rec.RecordSlice(since, record.Acquire, t.name, -1, t.off)
	}
	t.hold = t.rec.Begin(record.Hold, t.name, -1, t.off, 0)
}

// Released records that the PE is about to give the lock away.
func (t *Trace) Released() {
	t.note(-1)
	if t.rec != nil {
		t.rec.End(t.hold)
	}
}

// Shared notes, for the checks of the World, that n more goroutines of the PE hold the lock as readers; n may be
// negative. Any number of goroutines may call it at once.
func (t *Trace) Shared(n int) { t.note(n) }

// note notes that n more goroutines of the PE hold the lock, if the World checks.
func (t *Trace) note(n int) {
	if t.held != nil {
		t.held.Add(t.off, t.name, n)
	}
}
