package pgas

// What a PE counts of itself, for the program: Stats. Counters that belong to no other file are filled here: the heap's, and
// those of locks.

import (
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/stats"
	"github.com/gopgas/gopgas/pgas/topo"
)

// Stats returns what this PE has counted so far: operations and bytes by kind and peer, how long it was blocked and for
// whom, messages, locks, notifications and the use of its heap. It moves nothing and waits for nothing. Any goroutine may
// call it at any time, also after Close.
//
// A PE counts if the job was started with pgasrun -stats, -metrics or -trace, or with PGAS_STATS=1. Otherwise Recorded is false and all is zero but
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

// heapUse is the use of the heap for who may not wait for an allocation under way.
type heapUse struct{ inUse, high atomic.Uint64 }

// noteHeapUse is called after the heap has changed. The caller has locked it.
func (w *World) noteHeapUse() {
	u := w.heap.Usage
	w.heapUse.inUse.Store(u.InUse)
	w.heapUse.high.Store(u.High - boot.ReservedBytes)
	if w.n.Rec != nil {
		w.n.Rec.Set(record.HeapInUse, u.InUse)
		w.n.Rec.Set(record.HeapHigh, u.High-boot.ReservedBytes)
	}
}

// RecordLock counts an acquisition of a lock in this PE's Stats: whether the PE has waited for it, and the PE that passed it
// on, or -1 if that is not known. Package locks calls it, and so may a program that builds locks of its own. It does
// nothing if nothing is recorded. The first acquisition from another PE reads the topology, as World.Topology does.
func (w *World) RecordLock(waited bool, from int) {
	if w.n.Rec != nil {
		w.recordLock(waited, from)
	}
}

func (w *World) recordLock(waited bool, from int) {
	if !waited {
		w.n.Rec.Add(record.LocksAlone, 1)
		return
	}
	w.n.Rec.Add(record.LocksWaited, 1)
	if from >= 0 && from != w.n.Job.PE {
		w.n.Rec.Add(record.LockMoves+record.Counter(w.lockLevels.between(w, from)), 1)
	}
}

// RecordPages adds to the counters of coherent memory in this PE's Stats: page faults, and pages or blocks fetched and
// released. Package dsm calls it. It does nothing if nothing is recorded.
func (w *World) RecordPages(faults, fetched, released uint64) {
	if w.n.Rec == nil {
		return
	}
	w.n.Rec.Add(record.Faults, faults)
	w.n.Rec.Add(record.PagesFetched, fetched)
	w.n.Rec.Add(record.PagesReleased, released)
}

// Records reports whether this PE counts what it does: see Stats.
func (w *World) Records() bool { return w.n.Rec != nil }

// lockLevels are the levels by which hand-overs of locks are counted.
type lockLevels struct {
	once sync.Once
	tree *topo.Tree // nil: it cannot be read, and the machine is the only level
}

// between returns the innermost level that this PE shares with another.
func (l *lockLevels) between(w *World, from int) int {
	l.once.Do(func() {
		names := []string{topo.Machine}
		if tree, err := w.Topology(w.n.Ctx); err == nil {
			l.tree, names = tree, tree.Names()
		}
		w.n.Rec.NameLevels(names)
	})
	if l.tree == nil {
		return 0
	}
	return min(l.tree.Common(w.n.Job.PE, from), record.LockLevels-1)
}
