package atomics

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// Enum is a view of a word that holds one of a few values, such as
//
//	type State int32
//
// It is Integer without arithmetic.
type Enum[E pgas.Word] pgas.Atomic[E]

// EnumOf returns a view of element i of s. It panics with *pgas.UsageError if i is out of range.
func EnumOf[E pgas.Word](s pgas.Sym[E], i int) Enum[E] { return Enum[E](pgas.AtomicOf(s, i)) }

// Load returns the value on PE pe.
func (e Enum[E]) Load(pe int) E { return e.Atomic().Fetch(pe) }

// Store stores v on PE pe. It does not wait.
func (e Enum[E]) Store(pe int, v E) { e.Atomic().Set(pe, v) }

// Swap stores v on PE pe and returns the old value.
func (e Enum[E]) Swap(pe int, v E) (old E) { return e.Atomic().Swap(pe, v) }

// CompareAndSwap stores v on PE pe if the value is old, and reports whether it did: of several PEs that would go on
// from one state, one does.
func (e Enum[E]) CompareAndSwap(pe int, old, v E) (swapped bool) {
	return e.Atomic().CompareSwap(pe, old, v) == old
}

// WaitUntil blocks until this PE's own value is v. An update through a view, by any PE, wakes it. Errors:
// *pgas.PeerError if a PE of the job dies, and the cause of ctx's end.
func (e Enum[E]) WaitUntil(ctx context.Context, v E) error {
	_, err := e.Atomic().WaitUntil(ctx, pgas.EQ, v)
	return err
}

// On returns a view of the same value on another context.
func (e Enum[E]) On(c *pgas.Context) Enum[E] { return Enum[E](e.Atomic().On(c)) }

// Atomic returns the word as a pgas.Atomic, with all operations that the runtime has.
func (e Enum[E]) Atomic() pgas.Atomic[E] { return pgas.Atomic[E](e) }

// Small is a view of a value of 1 or 2 bytes: a bool, or an enumeration such as
//
//	type State uint8
//
// All values that share its aligned 4 bytes are to be accessed atomically (pgas.AtomicSmall). A Store of a bool or of
// zero does not wait; another one waits as Swap does.
type Small[E pgas.Small] pgas.AtomicSmall[E]

// SmallOf returns a view of element i of s. It panics with *pgas.UsageError if i is out of range.
func SmallOf[E pgas.Small](s pgas.Sym[E], i int) Small[E] { return Small[E](pgas.AtomicSmallOf(s, i)) }

// Load returns the value on PE pe.
func (s Small[E]) Load(pe int) E { return s.Atomic().Fetch(pe) }

// Store stores v on PE pe.
func (s Small[E]) Store(pe int, v E) { s.Atomic().Set(pe, v) }

// Swap stores v on PE pe and returns the old value.
func (s Small[E]) Swap(pe int, v E) (old E) { return s.Atomic().Swap(pe, v) }

// CompareAndSwap stores v on PE pe if the value is old, and reports whether it did.
func (s Small[E]) CompareAndSwap(pe int, old, v E) (swapped bool) {
	return s.Atomic().CompareSwap(pe, old, v) == old
}

// WaitUntil blocks until this PE's own value is v. An update through a view, by any PE, wakes it. Its errors are those
// of Enum.WaitUntil.
func (s Small[E]) WaitUntil(ctx context.Context, v E) error { return s.Atomic().WaitUntil(ctx, v) }

// On returns a view of the same value on another context.
func (s Small[E]) On(c *pgas.Context) Small[E] { return Small[E](s.Atomic().On(c)) }

// Atomic returns the value as a pgas.AtomicSmall.
func (s Small[E]) Atomic() pgas.AtomicSmall[E] { return pgas.AtomicSmall[E](s) }
