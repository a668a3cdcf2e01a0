package pgas

// Locks in the trace of the job: how long a PE held one, and how long it took to get it. Lock, the lock of the specification,
// records that itself; this is for locks that are built of words.
//
// A World that checks (PGAS_CHECK=1) also notes which locks of either kind its PE holds: to free one, or to leave the
// job with one, is misuse. Of the lock of the specification that is known, and reported, in every World, but not where
// it was taken.

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// LockTrace is one PE's handle of a lock in the trace of the job (pgasrun -trace) and in the checks of its World. The
// zero LockTrace records nothing. One goroutine uses it at a time, as one holds the lock. It moves and orders nothing.
type LockTrace struct {
	rec  *record.PE // nil: there is no trace
	k    *checker   // nil: nothing is checked
	off  uint64
	name string
	hold record.Mark
}

// TraceLock returns the trace of a lock of some kind, which the element that r refers to is a part of. Package locks calls it, and
// so may a program that builds locks of its own.
func TraceLock[T any](r Ref[T], kind string) LockTrace {
	w := r.ctx.world("TraceLock")
	t := LockTrace{rec: w.n.Rec, k: w.check, off: uint64(r.off & offsetMask)}
	if t.rec != nil && !t.rec.Traces() {
		t.rec = nil
	}
	if t.rec != nil || t.k != nil {
		t.name = fmt.Sprintf("%s at offset %d", kind, t.off)
	}
	if t.rec != nil {
		t.rec.RecordName(record.Word, t.name, t.off)
	}
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
	t.note(1)
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
	t.note(-1)
	if t.rec != nil {
		t.rec.End(t.hold)
	}
}

// Shared notes, for the checks of the World, that n more goroutines of the PE hold the lock as readers; n may be
// negative. Any number of goroutines may call it at once.
func (t *LockTrace) Shared(n int) { t.note(n) }

// note notes that n more goroutines of the PE hold the lock, if the World checks.
func (t *LockTrace) note(n int) {
	if t.k != nil {
		t.k.locks.Add(t.off, t.name, n)
	}
}
