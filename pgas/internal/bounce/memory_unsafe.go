package bounce

// Memory of this process whose accesses can block until a pager has served them: the pages of coherent regions. It
// must not reach a transport. A transport may access a source or a destination on its service thread, or under a lock
// that the pager needs too, and a page fault there would wait for a thread that waits for the faulting one. So
// operations copy such memory through memory of Go, on the goroutine that calls them (channel.go).

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Memory holds the address ranges that do not reach a transport. The zero value has none.
type Memory struct {
	mu     sync.Mutex                     // held during changes of ranges
	ranges atomic.Pointer[[]addressRange] // the registered ranges; nil if there are none
}

// addressRange is the addresses from lo to hi, hi excluded.
type addressRange struct{ lo, hi uintptr }

// rangeOf returns the addresses of b.
func rangeOf(b []byte) addressRange {
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return addressRange{lo, lo + uintptr(len(b))}
}

// Add registers the addresses of b, and returns what removes them, once.
func (m *Memory) Add(b []byte) (remove func()) {
	r := rangeOf(b)
	if r.lo == r.hi {
		return func() {}
	}
	m.change(func(all []addressRange) []addressRange { return append(all, r) })
	return sync.OnceFunc(func() {
		m.change(func(all []addressRange) []addressRange {
			i := slices.Index(all, r)
			return slices.Delete(all, i, i+1)
		})
	})
}

// change replaces the ranges by what f makes of a copy of them.
func (m *Memory) change(f func([]addressRange) []addressRange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []addressRange
	if old := m.ranges.Load(); old != nil {
		all = slices.Clone(*old)
	}
	if all = f(all); len(all) == 0 {
		m.ranges.Store(nil)
		return
	}
	m.ranges.Store(&all)
}

// Any reports whether there are ranges.
func (m *Memory) Any() bool { return m.ranges.Load() != nil }

// holds reports whether a byte of b is in a range.
func (m *Memory) holds(b []byte) bool {
	all := m.ranges.Load()
	if all == nil {
		return false
	}
	of := rangeOf(b)
	for _, r := range *all {
		if of.lo < r.hi && r.lo < of.hi {
			return true
		}
	}
	return false
}
