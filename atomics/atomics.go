// Package atomics is sync/atomic for symmetric memory. A view has the methods of its namesake there, and
// each takes first the number of the PE whose copy of the word is meant:
//
//	hits := atomics.Of(counters, 0)   // element 0 of a pgas.Sym[int64]: an atomics.Int64
//	hits.Add(3, 1)                    // on PE 3; the new value
//
//	turn := atomics.Uint32(cell.Turn())   // a field that is tagged pgas:"atomic"
//	done := atomics.Flag(cell.Done())     // another, of type uint32
//
// A view is a reference, so copy it freely; the words themselves are in the symmetric heap, start at zero
// like everything there, and may only be accessed atomically. Any number of goroutines of any PE may use
// one at a time.
//
// What returns a value waits for it: a few nanoseconds for a PE of this host, a round trip for another, and
// panics with *pgas.PeerError if that is lost. Store, Set and Clear do not wait: they are complete there,
// for all to see, after a Quiet of the view's context, and a Fence orders them, and puts, before what comes
// later. Operations of one context on one word are in order without either.
//
// As in sync/atomic, Add returns the new value, And and Or the old one. A view is a pgas.Atomic under
// another name and converts to it, which has what sync/atomic has not: operations that return nothing and
// so never wait, and operations whose value comes with the next Quiet.
//
//	hits.Atomic().Inc(3)
//	hits.Atomic().FetchAddNB(3, 1, &old)
package atomics

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// Integer is an integer word. Types made from one, like
//
//	type Ticket int64
//
// have views too: Integer[Ticket].
type Integer[W pgas.Word] pgas.Atomic[W]

// The views named as in sync/atomic, and those of the integers that have no namesake there.
type (
	Int32   = Integer[int32]
	Int64   = Integer[int64]
	Uint32  = Integer[uint32]
	Uint64  = Integer[uint64]
	Uintptr = Integer[uintptr]
	Int     = Integer[int]
	Uint    = Integer[uint]
)

// Of is element i of s.
func Of[W pgas.Word](s pgas.Sym[W], i int) Integer[W] { return Integer[W](pgas.AtomicOf(s, i)) }

// Load returns the word on pe.
func (n Integer[W]) Load(pe int) W { return pgas.Atomic[W](n).Fetch(pe) }

// Store stores v into the word on pe. It does not wait.
func (n Integer[W]) Store(pe int, v W) { pgas.Atomic[W](n).Set(pe, v) }

// Swap stores v into the word on pe and returns the old value.
func (n Integer[W]) Swap(pe int, v W) (old W) { return pgas.Atomic[W](n).Swap(pe, v) }

// CompareAndSwap stores v into the word on pe if it equals old, and reports whether it did.
func (n Integer[W]) CompareAndSwap(pe int, old, v W) (swapped bool) {
	return pgas.Atomic[W](n).CompareSwap(pe, old, v) == old
}

// Add adds delta to the word on pe and returns the new value.
func (n Integer[W]) Add(pe int, delta W) (sum W) {
	return pgas.Atomic[W](n).FetchAdd(pe, delta) + delta
}

// And stores the bitwise and of the word on pe with mask, and returns the old value.
func (n Integer[W]) And(pe int, mask W) (old W) { return pgas.Atomic[W](n).FetchAnd(pe, mask) }

// Or stores the bitwise or of the word on pe with mask, and returns the old value.
func (n Integer[W]) Or(pe int, mask W) (old W) { return pgas.Atomic[W](n).FetchOr(pe, mask) }

// Xor stores the bitwise exclusive or of the word on pe with mask, and returns the old value.
func (n Integer[W]) Xor(pe int, mask W) (old W) { return pgas.Atomic[W](n).FetchXor(pe, mask) }

// Min stores v into the word on pe if it is less than that, and returns the old value.
func (n Integer[W]) Min(pe int, v W) (old W) { return pgas.Atomic[W](n).FetchMin(pe, v) }

// Max stores v into the word on pe if it is greater than that, and returns the old value.
func (n Integer[W]) Max(pe int, v W) (old W) { return pgas.Atomic[W](n).FetchMax(pe, v) }

// WaitUntil blocks until this PE's own copy compares true with v, and returns the value that did. Every
// update by a view, of any PE, wakes it.
func (n Integer[W]) WaitUntil(ctx context.Context, cmp pgas.Cmp, v W) (W, error) {
	return pgas.Atomic[W](n).WaitUntil(ctx, cmp, v)
}

// On is the same word on another context.
func (n Integer[W]) On(c *pgas.Context) Integer[W] { return Integer[W](pgas.Atomic[W](n).On(c)) }

// Atomic is the word with all operations that the runtime has.
func (n Integer[W]) Atomic() pgas.Atomic[W] { return pgas.Atomic[W](n) }
