package checked

import (
	"sync"

	"github.com/gopgas/gopgas/internal/callsite"
)

// Locks are the locks that this PE holds, by their offsets in the heap.
type Locks struct {
	mu   sync.Mutex
	held map[uint64]*held
}

// held is one of them.
type held struct {
	name string
	n    int            // how many goroutines hold the lock: readers share it
	by   callsite.Stack // the call of the last holder
}

// Add notes that n more goroutines of this PE hold the lock at an offset; n may be negative. It allocates for a lock
// once.
func (l *Locks) Add(off uint64, name string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[off]
	if h == nil {
		h = new(held)
		if l.held == nil {
			l.held = map[uint64]*held{}
		}
		l.held[off] = h
	}
	h.n = max(h.n+n, 0)
	if n > 0 {
		h.name = name
		h.by.Take()
	}
}

// In finds a lock between two offsets that this PE holds: its offset, the name that Add was given, and where the lock
// was taken. ok reports whether there is one.
func (l *Locks) In(lo, hi uint64) (off uint64, name, at string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for off, h := range l.held {
		if lo <= off && off < hi && h.n > 0 {
			return off, h.name, h.by.Program(), true
		}
	}
	return 0, "", "", false
}
