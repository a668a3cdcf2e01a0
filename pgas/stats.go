package pgas

// What a PE counts of itself, for the program: Stats. The use of the heap is counted here, since no other file does.

import (
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/stats"
)

// Stats returns what this PE has counted so far: operations and bytes by kind and peer, how long it was blocked and
// for whom, messages, locks, notifications and the use of its heap. It moves nothing and waits for nothing. Any
// goroutine may call it at any time, also after Close.
//
// A PE counts if the job was started with pgasrun -stats, -metrics, -ui or -trace, or with PGAS_STATS=1. Otherwise
// Recorded is false and all is zero but the PE's number and Heap: nothing was counted then, and accesses have not one
// instruction more.
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

// Records reports whether this PE counts what it does: see Stats.
func (w *World) Records() bool {
	w.mustBeOpen("World.Records")
	return w.n.Rec != nil
}
