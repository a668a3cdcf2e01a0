package pgas

// Locks in the trace of the job: how long a PE held one, and how long it took to get it. Lock, the lock of the specification,
// records that itself; this is for locks that are built of words.

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// LockTrace is one PE's handle of a lock in the trace of the job (pgasrun -trace). The zero LockTrace records nothing. One
// goroutine uses it at a time, as one holds the lock. It moves and orders nothing.
type LockTrace struct {
	rec  *record.PE // nil: there is no trace
	off  uint64
	name string
	hold record.Mark
}

// TraceLock returns the trace of a lock of some kind, which the element that r refers to is a part of. Package locks calls it, and
// so may a program that builds locks of its own.
func TraceLock[T any](r Ref[T], kind string) LockTrace {
	rec := r.ctx.world("TraceLock").n.Rec
	if rec == nil || !rec.Traces() {
		return LockTrace{}
	}
	t := LockTrace{rec: rec, off: uint64(r.off & offsetMask)}
	t.name = fmt.Sprintf("%s at offset %d", kind, t.off)
	rec.RecordName(record.Word, t.name, t.off)
	return t
}

// Begin returns the moment at which the PE begins to take the lock.
func (t *LockTrace) Begin() int64 {
	if t.rec == nil {
		return 0
	}
	return t.rec.Moment()
}

// Acquired records that the PE holds the lock from now on. If it has waited, that has lasted since the moment of Begin.
func (t *LockTrace) Acquired(since int64, waited bool) {
	if t.rec != nil {
		t.acquired(since, waited)
	}
}

func (t *LockTrace) acquired(since int64, waited bool) {
	if waited {
		t.rec.RecordSlice(since, record.Acquire, t.name, -1, t.off)
	}
	t.hold = t.rec.Begin(record.Hold, t.name, -1, t.off, 0)
}

// Released records that the PE is about to give the lock away.
func (t *LockTrace) Released() {
	if t.rec != nil {
		t.rec.End(t.hold)
	}
}
