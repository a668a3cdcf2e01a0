package atomics

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// Bool is a view of a truth value in a word of type uint32: 0 is false, 1 is true.
type Bool pgas.Atomic[uint32]

// BoolOf returns a view of element i of s. It panics with *pgas.UsageError if i is out of range.
func BoolOf(s pgas.Sym[uint32], i int) Bool { return Bool(pgas.AtomicOf(s, i)) }

// Load returns the value on PE pe.
func (b Bool) Load(pe int) bool { return b.Atomic().Fetch(pe) != 0 }

// Store stores v on PE pe. It does not wait.
func (b Bool) Store(pe int, v bool) { b.Atomic().Set(pe, bit(v)) }

// Swap stores v on PE pe and returns the old value.
func (b Bool) Swap(pe int, v bool) (old bool) { return b.Atomic().Swap(pe, bit(v)) != 0 }

// CompareAndSwap stores v on PE pe if the value is old, and reports whether it did.
func (b Bool) CompareAndSwap(pe int, old, v bool) (swapped bool) {
	return b.Atomic().CompareSwap(pe, bit(old), bit(v)) == bit(old)
}

// WaitUntil blocks until this PE's own value is v. An update through a view, by any PE, wakes it. Errors:
// *pgas.PeerError if a PE of the job dies, and the cause of ctx's end.
func (b Bool) WaitUntil(ctx context.Context, v bool) error {
	_, err := b.Atomic().WaitUntil(ctx, pgas.EQ, bit(v))
	return err
}

// On returns a view of the same value on another context.
func (b Bool) On(c *pgas.Context) Bool { return Bool(b.Atomic().On(c)) }

// Atomic returns the word as a pgas.Atomic, with all operations that the runtime has.
func (b Bool) Atomic() pgas.Atomic[uint32] { return pgas.Atomic[uint32](b) }

// Flag is a view of a flag: one PE sets it and its target waits for it, or it belongs to the PE that sets it first
// (TestAndSet). It is in a word of type uint32. To announce data, fence between the put and Set; a put with a
// pgas.Signal is better, since it is one message.
type Flag pgas.Atomic[uint32]

// FlagOf returns a view of element i of s. It panics with *pgas.UsageError if i is out of range.
func FlagOf(s pgas.Sym[uint32], i int) Flag { return Flag(pgas.AtomicOf(s, i)) }

// Set sets the flag on PE pe. It does not wait.
func (f Flag) Set(pe int) { f.Atomic().Set(pe, 1) }

// Clear clears the flag on PE pe. It does not wait.
func (f Flag) Clear(pe int) { f.Atomic().Set(pe, 0) }

// IsSet reports whether the flag on PE pe is set.
func (f Flag) IsSet(pe int) bool { return f.Atomic().Fetch(pe) != 0 }

// TestAndSet sets the flag on PE pe and reports whether it was set before: of several callers, one gets false.
func (f Flag) TestAndSet(pe int) (wasSet bool) { return f.Atomic().Swap(pe, 1) != 0 }

// Wait blocks until this PE's own flag is set. Errors: those of Bool.WaitUntil.
func (f Flag) Wait(ctx context.Context) error {
	_, err := f.Atomic().WaitUntil(ctx, pgas.NE, 0)
	return err
}

// WaitClear blocks until this PE's own flag is clear. Errors: those of Bool.WaitUntil.
func (f Flag) WaitClear(ctx context.Context) error {
	_, err := f.Atomic().WaitUntil(ctx, pgas.EQ, 0)
	return err
}

// On returns a view of the same flag on another context.
func (f Flag) On(c *pgas.Context) Flag { return Flag(f.Atomic().On(c)) }

// Atomic returns the word as a pgas.Atomic, with all operations that the runtime has.
func (f Flag) Atomic() pgas.Atomic[uint32] { return pgas.Atomic[uint32](f) }

func bit(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}
