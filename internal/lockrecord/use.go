package lockrecord

import (
	"sync"

	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/topo"
)

// Use counts the acquisitions of all locks by one PE, for its Stats. The zero Use counts nothing.
type Use struct {
	Rec      *record.PE        // nil if nothing is recorded
	ReadTree func() *topo.Tree // reads the topology and records the names of its levels; nil if it cannot be read
	PE       int

	once sync.Once
	tree *topo.Tree // nil if the machine is the only level
}

// Count counts one acquisition: whether the PE has waited for the lock, and the PE that passed it on, or -1 if that
// is not known. The first acquisition from another PE reads the topology.
func (u *Use) Count(waited bool, from int) {
	if u.Rec != nil {
		u.count(waited, from)
	}
}

func (u *Use) count(waited bool, from int) {
	if !waited {
		u.Rec.Add(record.LocksAlone, 1)
		return
	}
	u.Rec.Add(record.LocksWaited, 1)
	if from >= 0 && from != u.PE {
		u.Rec.Add(record.LockMoves+record.Counter(u.levelTo(from)), 1)
	}
}

// levelTo returns the innermost level that this PE shares with pe.
func (u *Use) levelTo(pe int) int {
	u.once.Do(func() { u.tree = u.ReadTree() })
	if u.tree == nil {
		return 0
	}
	return min(u.tree.Common(u.PE, pe), record.LockLevels-1)
}
