package dsm

// The names of a region's arrays, for reports and errors.

import "sync"

// named is an array.
type named struct {
	name   string // the name of the type of its elements
	lo, hi uint64
	size   uint64 // bytes of an element
}

// arrays are those of a region so far. A fetch in the background may name one while the program allocates another.
type arrays struct {
	mu   sync.Mutex
	list []named
}

func (a *arrays) add(n named) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, n)
}

// all returns the arrays. Those do not change.
func (a *arrays) all() []named {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.list
}
