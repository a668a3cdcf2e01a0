// Package checked is what a World that checks (PGAS_CHECK=1) knows of its program besides what is allocated: operations
// that are under way, non-blocking collectives, and locks that are held. It reports with the program's lines.
package checked

// The contexts that a program has opened: no operation on one may be under way to memory that is freed, and a private
// or serialized one is used as it was promised. Their channels are those of channel.go, which see every operation. The
// default context needs none of that: Free quiets it, and any goroutine may use it. So do its views and contexts that
// share its channel.

import (
	"fmt"
	"sync"

	"github.com/gopgas/gopgas/internal/callsite"
)

// Memory is what is allocated in the symmetric heaps. Keys of allocations compare with ==.
type Memory interface {
	// Live returns the key of the allocation that lives at an offset, or nil.
	Live(off uint64) any
	// OwnOffset returns where an address lies in the heap of this PE, and whether it does.
	OwnOffset(addr uintptr) (off uint64, ok bool)
}

// Misuse panics with the error of the program's misuse of an operation.
type Misuse func(op, format string, args ...any)

// Domain is the ordering domain of a context. A nil Domain checks nothing.
type Domain struct {
	memory  Memory
	misuse  Misuse
	opened  string // where the program opened the context
	private bool   // only one goroutine may use the context
	alone   bool   // no two goroutines may use the context at the same time

	mu       sync.Mutex
	last     uint64 // the number of the last operation that was issued
	underway map[target]*issued
	owner    uint64          // if private: the first goroutine that has used the context; 0: none has
	began    callsite.Stack  // if private: where owner first used the context
	inside   *callsite.Stack // if alone: where a goroutine uses the context now; nil: none does
}

// target is what an operation accesses: an allocation, on a PE of the job.
type target struct {
	b  any // the key of the allocation
	pe int
}

// issued is the last operation on a target since the last quiet of it.
type issued struct {
	op     string
	number uint64
	by     callsite.Stack
}

// NewDomain returns the Domain of a context that the program opens: of one goroutine if it is private, and of one at a
// time if it is serialized.
func NewDomain(m Memory, misuse Misuse, private, serialized bool) *Domain {
	return &Domain{memory: m, misuse: misuse, opened: callsite.Program(), private: private, alone: serialized, underway: map[target]*issued{}}
}

// Use panics with *UsageError unless the calling goroutine may use the context now. The caller calls done after the
// use.
func (d *Domain) Use(op string) (done func()) {
	if d == nil {
		return func() {}
	}
	if d.private {
		d.mustBeOwner(op)
	}
	if !d.alone {
		return func() {}
	}
	here := new(callsite.Stack)
	here.Take()
	d.mu.Lock()
	other := d.inside
	if other == nil {
		d.inside = here
	}
	d.mu.Unlock()
	if other != nil {
		d.misuse(op, "another goroutine uses this context, which is Serialized, at the same time, at %s: "+
			"let the goroutines take turns, or open the context without Serialized", other.Program())
	}
	return func() {
		d.mu.Lock()
		d.inside = nil
		d.mu.Unlock()
	}
}

// mustBeOwner panics with *UsageError unless the calling goroutine is the first that uses the context.
func (d *Domain) mustBeOwner(op string) {
	me := callsite.Goroutine()
	d.mu.Lock()
	if d.owner == 0 {
		d.owner = me
		d.began.Take()
	}
	other := d.owner != me
	d.mu.Unlock()
	if other {
		d.misuse(op, "this private context, opened at %s, is that of another goroutine, which has used it at %s: "+
			"open one for each goroutine, or one without Private", d.opened, d.began.Program())
	}
}

// issue notes an operation on offset off of pe that is complete only after a quiet.
func (d *Domain) issue(op string, pe int, off uint64) {
	b := d.memory.Live(off)
	if b == nil {
		return // memory of the runtime
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	i := d.underway[target{b, pe}]
	if i == nil {
		i = new(issued)
		d.underway[target{b, pe}] = i
	}
	i.op, i.number = op, d.last
	i.by.Take()
}

// fills notes that an operation on pe fills or reads memory of this process until a quiet, if that is symmetric memory.
func (d *Domain) fills(op string, pe int, mem []byte) {
	if off, ok := d.memory.OwnOffset(address(mem)); ok {
		d.issue(op, pe, off)
	}
}

// LastIssued returns the number of the last operation, for Quieted.
func (d *Domain) LastIssued() uint64 {
	if d == nil {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// Quieted notes that the operations on pe, or on every PE if pe < 0, up to a number are complete, or are lost and
// reported.
func (d *Domain) Quieted(pe int, last uint64) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for t, i := range d.underway {
		if (pe < 0 || t.pe == pe) && i.number <= last {
			delete(d.underway, t)
		}
	}
}

// Onto describes an operation that may be under way to the allocation of a key, or returns "" if there is none.
func (d *Domain) Onto(key any) string {
	if d == nil {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for t, i := range d.underway {
		if t.b == key {
			return fmt.Sprintf("%s on PE %d, issued at %s on a context that was opened at %s,", i.op, t.pe, i.by.Program(), d.opened)
		}
	}
	return ""
}
