package atomics

import (
	"context"
	"math"

	"github.com/gopgas/gopgas/pgas"
)

// Float is a view of a floating-point word. It has no namesake in sync/atomic; its methods are those of Integer,
// without the bitwise ones.
type Float[F pgas.Float] pgas.AtomicFloat[F]

// The views of Go's floating-point types.
type (
	Float32 = Float[float32]
	Float64 = Float[float64]
)

// OfFloat returns a view of element i of s. It panics with *pgas.UsageError if i is out of range.
func OfFloat[F pgas.Float](s pgas.Sym[F], i int) Float[F] {
	return Float[F](pgas.AtomicFloatOf(s, i))
}

// Load returns the word on PE pe.
func (n Float[F]) Load(pe int) F { return n.Atomic().Fetch(pe) }

// Store stores v into the word on PE pe. It does not wait.
func (n Float[F]) Store(pe int, v F) { n.Atomic().Set(pe, v) }

// Swap stores v into the word on PE pe and returns the old value.
func (n Float[F]) Swap(pe int, v F) (old F) { return n.Atomic().Swap(pe, v) }

// CompareAndSwap stores v into the word on PE pe if its bits are those of old, and reports whether it
// did. By their bits 0 and -0 differ, and a NaN equals itself, as a loop of Load and CompareAndSwap needs it.
func (n Float[F]) CompareAndSwap(pe int, old, v F) (swapped bool) {
	return sameBits(n.Atomic().CompareSwap(pe, old, v), old)
}

// Add adds delta to the word on PE pe and returns the new value.
func (n Float[F]) Add(pe int, delta F) (sum F) { return n.Atomic().FetchAdd(pe, delta) + delta }

// Min replaces the word on PE pe by the smaller of it and v, by Go's min, and returns the old value.
func (n Float[F]) Min(pe int, v F) (old F) { return n.Atomic().FetchMin(pe, v) }

// Max replaces the word on PE pe by the larger of it and v, by Go's max, and returns the old value.
func (n Float[F]) Max(pe int, v F) (old F) { return n.Atomic().FetchMax(pe, v) }

// WaitUntil blocks until this PE's own copy of the word compares true with v, and returns the value that did. An
// update through a view, by any PE, wakes it. Errors: those of Integer.WaitUntil.
func (n Float[F]) WaitUntil(ctx context.Context, cmp pgas.Cmp, v F) (F, error) {
	return n.Atomic().WaitUntil(ctx, cmp, v)
}

// On returns a view of the same word on another context.
func (n Float[F]) On(c *pgas.Context) Float[F] { return Float[F](n.Atomic().On(c)) }

// Atomic returns the word as a pgas.AtomicFloat, with all operations that the runtime has.
func (n Float[F]) Atomic() pgas.AtomicFloat[F] { return pgas.AtomicFloat[F](n) }

// sameBits compares as a compare-swap does. Of the two conversions, the one to F's own width keeps every bit; the
// other one then gives equal results for equal bits.
func sameBits[F pgas.Float](a, b F) bool {
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b)) &&
		math.Float32bits(float32(a)) == math.Float32bits(float32(b))
}
