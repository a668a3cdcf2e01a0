package checked

import (
	"slices"
	"sync"

	"github.com/gopgas/gopgas/internal/callsite"
)

// Requests are non-blocking collectives on memory that may be freed while they are under way.
type Requests struct {
	mu   sync.Mutex
	list []request
}

// request is one of them.
type request struct {
	over func() bool
	on   [2]any // keys of the allocations that the request concerns
	by   callsite.Stack
}

// Add notes a collective on the allocations of two keys. over reports whether the collective is complete on this PE.
func (r *Requests) Add(over func() bool, a, b any) {
	added := request{over: over, on: [2]any{a, b}}
	added.by.Take()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(slices.DeleteFunc(r.list, func(q request) bool { return q.over() }), added)
}

// Onto returns where a collective was started that is under way on the allocation of a key, or "" if there is none.
func (r *Requests) Onto(key any) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.list {
		if q := &r.list[i]; q.touches(key) {
			return q.by.Program()
		}
	}
	return ""
}

// touches reports whether q is under way on the allocation of a key.
func (q *request) touches(key any) bool { return (q.on[0] == key || q.on[1] == key) && !q.over() }
