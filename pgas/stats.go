package pgas

// What a PE counts of itself, for the program: Stats. Counters that belong to no other file are filled here: the heap's, and
// those of locks.

import (
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/stats"
)

// Stats returns what this PE has counted so far: operations and bytes by kind and peer, how long it was blocked and for
// whom, messages, locks, notifications and the use of its heap. It moves nothing and waits for nothing. Any goroutine may
// call it at any time, also after Close.
//
// A PE counts if the job was started with pgasrun -stats, -metrics, -ui or -trace, or with PGAS_STATS=1. Otherwise Recorded is false and all is zero but
// the PE's number and Heap: nothing was counted then, and accesses have not one instruction more.
func (w *World) Stats() stats.PE {
	w.mustBeOpen("World.Stats")
	var s stats.PE
	if w.n.Rec != nil {
		s = stats.Of(w.n.Rec.Counts())
	} else {
		s = stats.Of(record.Counts{PE: w.n.Job.PE})
		s.Recorded = false
	}
	s.Heap = stats.Heap{InUse: w.heapUse.inUse.Load(), High: w.heapUse.high.Load()}
	return s
}

// RecordLock counts an acquisition of a lock in this PE's Stats: whether the PE has waited for it, and the PE that passed it
// on, or -1 if that is not known. Package locks calls it, and so may a program that builds locks of its own. It does
// nothing if nothing is recorded. The first acquisition from another PE reads the topology, as World.Topology does.
func (w *World) RecordLock(waited bool, from int) {
	w.mustBeOpen("World.RecordLock")
	w.lockUse.count(waited, from)
}

// RecordPages adds to the counters of coherent memory in this PE's Stats: page faults, and pages or blocks fetched and
// released. Package dsm calls it. It does nothing if nothing is recorded.
func (w *World) RecordPages(faults, fetched, released uint64) {
	w.mustBeOpen("World.RecordPages")
	if w.n.Rec == nil {
		return
	}
	w.n.Rec.Add(record.Faults, faults)
	w.n.Rec.Add(record.PagesFetched, fetched)
	w.n.Rec.Add(record.PagesReleased, released)
}

// Records reports whether this PE counts what it does: see Stats.
func (w *World) Records() bool {
	w.mustBeOpen("World.Records")
	return w.n.Rec != nil
}
