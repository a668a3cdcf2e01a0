package pgas

// What a World keeps and counts for its Stats.

import (
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/internal/symheap"
	"github.com/gopgas/gopgas/pgas/topo"
)

// heapUse is the use of the heap, for readers that may not wait for an allocation under way.
type heapUse struct{ inUse, high atomic.Uint64 }

// note notes that the heap has changed, and records it in rec unless that is nil. The caller has locked the heap.
func (h *heapUse) note(u symheap.Usage, rec *record.PE) {
	h.inUse.Store(u.InUse)
	h.high.Store(u.High - boot.ReservedBytes)
	if rec != nil {
		rec.Set(record.HeapInUse, u.InUse)
		rec.Set(record.HeapHigh, u.High-boot.ReservedBytes)
	}
}

// lockUse counts acquisitions of locks.
type lockUse struct {
	rec  *record.PE        // nil: nothing is recorded
	read func() *topo.Tree // reads the tree, and notes its levels; nil: it cannot be read
	me   int
	once sync.Once
	tree *topo.Tree // nil: the machine is the only level
}

// count counts one acquisition: whether the PE has waited for it, and the PE that passed it on, or -1.
func (l *lockUse) count(waited bool, from int) {
	if l.rec != nil {
		l.countRecorded(waited, from)
	}
}

func (l *lockUse) countRecorded(waited bool, from int) {
	if !waited {
		l.rec.Add(record.LocksAlone, 1)
		return
	}
	l.rec.Add(record.LocksWaited, 1)
	if from >= 0 && from != l.me {
		l.rec.Add(record.LockMoves+record.Counter(l.levelTo(from)), 1)
	}
}

// levelTo returns the innermost level that this PE shares with another.
func (l *lockUse) levelTo(pe int) int {
	l.once.Do(func() { l.tree = l.read() })
	if l.tree == nil {
		return 0
	}
	return min(l.tree.Common(l.me, pe), record.LockLevels-1)
}
