package dsm

// The names of a region's arrays, for reports and errors.

import (
	"fmt"
	"sync"
)

// named is an array.
type named struct {
	name   string // of the type of its elements
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

// elementsOf names the elements of block b.
func (r *Region) elementsOf(b int) string {
	from := uint64(b) * uint64(r.o.Block)
	for i, a := range r.arrays.all() {
		if from >= a.lo && from < a.hi && a.size > 0 {
			to := min(from+uint64(r.o.Block), a.hi)
			return fmt.Sprintf("array %d ([]%s)[%d:%d]", i, a.name, (from-a.lo)/a.size, (to-a.lo+a.size-1)/a.size)
		}
	}
	return "of no array"
}
