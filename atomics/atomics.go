// Package atomics is sync/atomic for symmetric memory. A view has the methods of its namesake in sync/atomic, each
// with the target PE, whose copy of the word it accesses, as the first parameter:
//
//	hits := atomics.Of(counters, 0)   // element 0 of a pgas.Sym[int64]: an atomics.Int64
//	hits.Add(3, 1)                    // on PE 3; the new value
//
//	turn := atomics.Uint32(cell.Turn())   // a field that is tagged pgas:"atomic"
//	done := atomics.Flag(cell.Done())     // another, of type uint32
//
// A view is a reference, so copy it freely. The words themselves are in the symmetric heap, start at zero, and may
// only be accessed atomically. Goroutines of any PE may use a view at the same time.
//
// A method that returns a value waits for it: a few nanoseconds if the target is on this host, a round trip if it
// is on another one. It panics with *pgas.PeerError if the target is lost. Store, Set and Clear do not wait: they
// are complete at the target, and visible to all PEs, after a Quiet of the view's context, and a Fence orders
// them, as it orders puts, before later ones. Operations of one context on one word are in order without either.
//
// As in sync/atomic, Add returns the new value, And and Or the old one. A view converts to the pgas.Atomic that it
// is made from, which has what sync/atomic has not: operations that return nothing and so never wait, and
// operations whose value is available after the next Quiet.
//
//	hits.Atomic().Inc(3)
//	hits.Atomic().FetchAddNB(3, 1, &old)
//
//ci:nocgo=whole
package atomics

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// Integer is a view of an integer word. Types made from integers, such as
//
//	type Ticket int64
//
// have views too: Integer[Ticket].
type Integer[W pgas.Word] pgas.Atomic[W]

// The views named as in sync/atomic, and those of the integers without a namesake in it.
type (
	Int32   = Integer[int32]
	Int64   = Integer[int64]
	Uint32  = Integer[uint32]
	Uint64  = Integer[uint64]
	Uintptr = Integer[uintptr]
	Int     = Integer[int]
	Uint    = Integer[uint]
)

// Of returns a view of element i of s. It panics with *pgas.UsageError if i is out of range.
func Of[W pgas.Word](s pgas.Sym[W], i int) Integer[W] { return Integer[W](pgas.AtomicOf(s, i)) }

// Load returns the word on PE pe.
func (n Integer[W]) Load(pe int) W { return pgas.Atomic[W](n).Fetch(pe) }

// Store stores v into the word on PE pe. It does not wait.
func (n Integer[W]) Store(pe int, v W) { pgas.Atomic[W](n).Set(pe, v) }

// Swap stores v into the word on PE pe and returns the old value.
func (n Integer[W]) Swap(pe int, v W) (old W) { return pgas.Atomic[W](n).Swap(pe, v) }

// CompareAndSwap stores v into the word on PE pe if it equals old, and reports whether it did.
func (n Integer[W]) CompareAndSwap(pe int, old, v W) (swapped bool) {
	return pgas.Atomic[W](n).CompareSwap(pe, old, v) == old
}

// Add adds delta to the word on PE pe and returns the new value.
func (n Integer[W]) Add(pe int, delta W) (sum W) {
	return pgas.Atomic[W](n).FetchAdd(pe, delta) + delta
}

// And stores the bitwise and of the word on PE pe with mask, and returns the old value.
func (n Integer[W]) And(pe int, mask W) (old W) { return pgas.Atomic[W](n).FetchAnd(pe, mask) }

// Or stores the bitwise or of the word on PE pe with mask, and returns the old value.
func (n Integer[W]) Or(pe int, mask W) (old W) { return pgas.Atomic[W](n).FetchOr(pe, mask) }

// Xor stores the bitwise exclusive or of the word on PE pe with mask, and returns the old value.
func (n Integer[W]) Xor(pe int, mask W) (old W) { return pgas.Atomic[W](n).FetchXor(pe, mask) }

// Min stores v into the word on PE pe if v is less than the word, and returns the old value.
func (n Integer[W]) Min(pe int, v W) (old W) { return pgas.Atomic[W](n).FetchMin(pe, v) }

// Max stores v into the word on PE pe if v is greater than the word, and returns the old value.
func (n Integer[W]) Max(pe int, v W) (old W) { return pgas.Atomic[W](n).FetchMax(pe, v) }

// WaitUntil blocks until this PE's own copy of the word compares true with v, and returns the value that did. An
// update through a view, by any PE, wakes it. Errors: *pgas.PeerError if a PE of the job dies, and the cause of
// ctx's end.
func (n Integer[W]) WaitUntil(ctx context.Context, cmp pgas.Cmp, v W) (W, error) {
	return pgas.Atomic[W](n).WaitUntil(ctx, cmp, v)
}

// On returns a view of the same word on another context.
func (n Integer[W]) On(c *pgas.Context) Integer[W] { return Integer[W](pgas.Atomic[W](n).On(c)) }

// Atomic returns the word as a pgas.Atomic, with all operations that the runtime has.
func (n Integer[W]) Atomic() pgas.Atomic[W] { return pgas.Atomic[W](n) }
