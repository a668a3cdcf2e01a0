package pgas

// What sees the use of a context where accesses are checked (PGAS_CHECK).

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/checked"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// watcher sees the use of a context and its operations. A nil watcher sees nothing.
type watcher struct {
	domain *checked.Domain    // checks the use of a context that the program has opened; nil: of none
	races  *racecheck.Context // tells the detector of races; nil: there is none
	shared bool               // races is that of the default context
}

// close notes that the context ends.
func (x *watcher) close() {
	if x != nil && !x.shared {
		x.races.Close()
	}
}

// mark is how far the operations of a context are.
type mark struct {
	last  uint64 // as domain counts them
	races racecheck.Mark
}

// issued returns how far the operations of the context are, for quieted.
func (x *watcher) issued() mark {
	if x == nil {
		return mark{}
	}
	return mark{x.domain.LastIssued(), x.races.Issued()}
}

// quieted notes that the operations on pe, or on every PE if pe < 0, up to a mark are complete, or are lost and
// reported.
func (x *watcher) quieted(ctx context.Context, pe int, m mark) {
	if x != nil {
		x.domain.Quieted(pe, m.last)
		x.races.Quieted(ctx, pe, m.races)
	}
}

// fence notes a fence for pe, or for every PE if pe < 0.
func (x *watcher) fence(pe int) {
	x.domain.Use("Fence")()
	x.races.Fence(pe)
}

// onto describes an operation that may be under way to the allocation of a key, or returns "" if there is none.
func (x *watcher) onto(key any) string {
	if x == nil {
		return ""
	}
	return x.domain.Onto(key)
}
