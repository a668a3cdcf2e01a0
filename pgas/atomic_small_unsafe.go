package pgas

// Atomic truth values and small enumerations: types of 1 and 2 bytes, for which the specification, CPUs' instructions
// in Go and NICs have no atomics. An operation is one on the aligned 4 bytes that contain the value, which leaves the
// rest as it is:
//
//	Fetch              a fetch of the word
//	Set to 0, to true  a bitwise and, or
//	Swap of a bool     the same, with the old value
//	others             a loop of compare-swaps, as long as other PEs update the word in between
//
// So the values that share such a word are atomic to each other. To the race detector each access is one to the whole
// word: what shares it must be accessed as AtomicSmall, too. pgasgen rejects structs in which it would not.

import (
	"context"
	"reflect"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Small is the constraint of the types of 1 and 2 bytes that AtomicSmall refers to: bool, and what enumerations are
// made from.
type Small interface {
	~bool | ~int8 | ~uint8 | ~int16 | ~uint16
}

// AtomicSmall refers to a truth value or a small integer of symmetric memory that is only ever accessed atomically, as
// all values are that share its aligned 4 bytes.
//
// Set of zero, and of a truth value, is complete locally when it returns, and complete and visible at pe after a Quiet
// of its context; a Fence orders it. Set of another value waits as Swap does. An operation that waits panics with
// *PeerError if pe is lost. All operations panic with *UsageError if pe is out of range, if the context is closed, or
// if a is zero. It is an extension of OpenSHMEM.
type AtomicSmall[E Small] struct {
	_     [0]E // keeps an AtomicSmall from being converted to that of another type
	word  Atomic[uint32]
	shift uint8 // bits from the start of the word to the value
}

// AtomicSmallOf returns element i of s as an atomic value. It panics with *UsageError if i is out of range.
func AtomicSmallOf[E Small](s Sym[E], i int) AtomicSmall[E] {
	r := s.At(i)
	return atomicSmall[E](r.ctx, r.off)
}

// FieldAtomicSmall returns the atomic truth value or small integer at byte offset off of the record that r refers to.
// It is for generated code.
func FieldAtomicSmall[E Small, T any](r Ref[T], off uintptr) AtomicSmall[E] {
	return atomicSmall[E](r.ctx, r.off+off)
}

// atomicSmall returns the value at an offset. It panics with *UsageError if that is no multiple of the value's size.
func atomicSmall[E Small](c *Context, off uintptr) AtomicSmall[E] {
	aligned(off, node.SizeOf[E](), misaligned)
	return AtomicSmall[E]{word: Atomic[uint32]{ctx: c, off: off &^ 3}, shift: uint8(off&3) * 8}
}

// On returns the same value on context c, whose team its PE numbers then count. It panics with *UsageError if a is
// zero.
func (a AtomicSmall[E]) On(c *Context) AtomicSmall[E] {
	a.word = a.word.On(c)
	return a
}

// Fetch returns the value on pe. It waits for it.
func (a AtomicSmall[E]) Fetch(pe int) E {
	a.made("AtomicSmall.Fetch")
	return a.in(a.word.Fetch(pe))
}

// Set stores v on pe.
func (a AtomicSmall[E]) Set(pe int, v E) {
	a.made("AtomicSmall.Set")
	switch b := bitsOf(v); {
	case b == 0:
		a.word.And(pe, ^a.mask())
	case isBool[E]():
		a.word.Or(pe, b<<a.shift)
	default:
		a.Swap(pe, v)
	}
}

// Swap stores v on pe and returns the old value. It waits for it.
func (a AtomicSmall[E]) Swap(pe int, v E) E {
	a.made("AtomicSmall.Swap")
	b := bitsOf(v)
	switch {
	case b == 0:
		return a.in(a.word.FetchAnd(pe, ^a.mask()))
	case isBool[E]():
		return a.in(a.word.FetchOr(pe, b<<a.shift))
	}
	for word := a.word.Fetch(pe); ; {
		was := a.word.CompareSwap(pe, word, word&^a.mask()|b<<a.shift)
		if was == word {
			return a.in(was)
		}
		word = was
	}
}

// CompareSwap stores v on pe if the value equals cond, and returns the old value: it has stored v if and only if the
// result equals cond. It waits for it.
func (a AtomicSmall[E]) CompareSwap(pe int, cond, v E) E {
	a.made("AtomicSmall.CompareSwap")
	for word := a.word.Fetch(pe); ; {
		if a.in(word) != cond {
			return a.in(word)
		}
		was := a.word.CompareSwap(pe, word, word&^a.mask()|bitsOf(v)<<a.shift)
		if was == word {
			return cond
		}
		word = was
	}
}

// WaitUntil blocks until this PE's own copy is v. An update of it by any PE wakes the waiter. What the updater ordered
// before, by a Fence or a Quiet, is then visible. Its errors are those of Atomic.WaitUntil.
func (a AtomicSmall[E]) WaitUntil(ctx context.Context, v E) error {
	a.made("AtomicSmall.WaitUntil")
	mustHaveContext("AtomicSmall.WaitUntil", ctx)
	if a.word.ctx.w.refuses(ctx) {
		return a.word.ctx.w.refusal(ctx, "WaitUntil")
	}
	for me := a.word.ctx.team.g.Me; ; {
		word := a.word.Fetch(me)
		if a.in(word) == v {
			return nil
		}
		if _, err := a.word.WaitUntil(ctx, NE, word); err != nil {
			return err
		}
	}
}

// Test reports, without waiting, whether this PE's own copy is v.
func (a AtomicSmall[E]) Test(v E) bool {
	a.made("AtomicSmall.Test")
	a.word.ctx.w.n.YieldIfScheduled()
	return a.in(a.word.Fetch(a.word.ctx.team.g.Me)) == v
}

// made panics with *UsageError if a is zero.
func (a AtomicSmall[E]) made(op string) { a.word.ctx.world(op) }

// mask returns the bits of the value in its word.
func (a AtomicSmall[E]) mask() uint32 {
	var v E
	return (1<<(8*unsafe.Sizeof(v)) - 1) << a.shift
}

// in returns the value in a word.
func (a AtomicSmall[E]) in(word uint32) E {
	word >>= a.shift
	return *(*E)(unsafe.Pointer(&word)) // the memory of all PEs is little-endian, as all their CPUs are
}

// bitsOf returns v as the lowest bits of a word.
func bitsOf[E Small](v E) (word uint32) {
	*(*E)(unsafe.Pointer(&word)) = v
	return word
}

// isBool reports whether E is a truth value.
func isBool[E Small]() bool { return reflect.TypeFor[E]().Kind() == reflect.Bool }
