package coherent

// Array: the elements of a dsm.Array, which are divided among the PEs as Team.Share divides.

import (
	"context"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// Array is a sequence of Len elements of T in a region. Each PE has a share of them, which is where loops over the
// array begin and no limit to accesses: any PE reads and writes any element, by loads and stores of a copy that is
// fetched when it is missing.
//
// Its methods may be called by several goroutines of a PE at once, as far as the program's accesses do not race.
type Array[T any] struct {
	region *dsm.Region
	team   *pgas.Team
	memory dsm.Array[T]
}

// New makes an array of n zero elements in region r, on blocks of its own; it lives until the region is closed. It
// panics with *pgas.UsageError if w is nil or r closed, if T holds pointers, or if n is negative.
//
// It is collective over all PEs of the World, whose region r is. Its errors are those of dsm.Alloc: among them
// *pgas.MismatchError if PEs give different n.
func New[T any](ctx context.Context, w *pgas.World, r *dsm.Region, n int) (*Array[T], error) {
	if ctx == nil {
		misuse("New", "the context is nil: pass the one that the body of Main gets, or context.Background()")
	}
	team := w.Team() // panics if w is nil or zero
	memory, err := dsm.Alloc[T](ctx, r, n)
	if err != nil {
		return nil, err
	}
	return &Array[T]{region: r, team: team, memory: memory}, nil
}

// Memory returns the array as package dsm has it, for what Array has no method for: Prefetch, Publish, Claim, Slice …
func (a *Array[T]) Memory() dsm.Array[T] {
	a.mustBe("Memory")
	return a.memory
}

// Region returns the region that the array is in. Its Barrier makes what PEs have written visible to all.
func (a *Array[T]) Region() *dsm.Region {
	a.mustBe("Region")
	return a.region
}

// Len returns the number of elements. It is local.
func (a *Array[T]) Len() int {
	a.mustBe("Len")
	return a.memory.Len()
}

// Share returns this PE's share of the elements: lo to hi-1. It is local.
func (a *Array[T]) Share() (lo, hi int) {
	a.mustBe("Share")
	return a.team.Share(a.memory.Len())
}

// Owner returns the PE whose share has element i. It is local. It panics with *pgas.UsageError if i is out of range.
func (a *Array[T]) Owner(i int) int {
	pe, _ := a.Locate(i)
	return pe
}

// Locate returns the PE whose share has element i, and the place of the element in its Local. It is local, and panics
// as Owner does.
func (a *Array[T]) Locate(i int) (pe, at int) {
	a.mustBe("Locate")
	n := a.memory.Len()
	if uint(i) >= uint(n) {
		misuse("Locate", "index %d is out of range: the array has %s", i, plural.Count(n, "element"))
	}
	pe = a.team.OwnerOf(i, n)
	lo, _ := a.team.ShareOf(pe, n)
	return pe, i - lo
}

// Index returns the index of the element at place at of PE pe's share: the inverse of Locate. It is local. It panics
// with
// *pgas.UsageError if the share has no such element.
func (a *Array[T]) Index(pe, at int) int {
	a.mustBe("Index")
	if pe < 0 || pe >= a.team.NPEs() {
		misuse("Index", "PE %d is out of range: the array has shares of %s", pe, plural.Count(a.team.NPEs(), "PE"))
	}
	lo, hi := a.team.ShareOf(pe, a.memory.Len())
	if at < 0 || at >= hi-lo {
		misuse("Index", "place %d is out of range: PE %d has %s", at, pe, plural.Count(hi-lo, "element"))
	}
	return lo + at
}

// At returns element i: a load, after a fetch of its block if this PE has no copy. It panics as dsm.Array.At does.
func (a *Array[T]) At(i int) T { return a.memory.At(i) }

// Set stores v in element i: a store to this PE's copy, after a fetch if it has none. The PE's next release publishes
// it. It panics as dsm.Array.Set does.
func (a *Array[T]) Set(i int, v T) { a.memory.Set(i, v) }

// mustBe panics with *pgas.UsageError if the array is nil or zero.
func (a *Array[T]) mustBe(op string) {
	if a == nil || a.region == nil {
		misuse(op, "the array is nil or zero: make one with New")
	}
}

// misuse panics with *pgas.UsageError.
func misuse(op, format string, args ...any) {
	hook.Misuse("coherent."+op, format, args...)
}
