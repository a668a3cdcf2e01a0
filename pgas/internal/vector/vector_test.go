package vector

// Every loop against its naive twin in Go, over sizes, alignments and values.

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

type bits interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint | ~uintptr
}

type ordered interface{ bits | ~float32 | ~float64 }

// A twin compares one loop with what the operator is.
type twin struct {
	op    Op
	kind  reflect.Kind
	check func(t *testing.T, op Op, n, dAt, aAt, bAt int, into string, seed uint64)
}

func twinOf[T any](op Op, value func(*rand.Rand) T, naive func(a, b T) T, same func(a, b T) bool) twin {
	check := func(t *testing.T, op Op, n, dAt, aAt, bAt int, into string, seed uint64) {
		t.Helper()
		kind := reflect.TypeFor[T]().Kind()
		r := rand.New(rand.NewPCG(seed, uint64(kind)))
		fill := func(at int) []T {
			v := make([]T, at+n+2)
			for i := range v {
				v[i] = value(r)
			}
			return v
		}
		a, b, d := fill(aAt), fill(bAt), fill(dAt)
		x, y := slices.Clone(a[aAt:][:n]), slices.Clone(b[bAt:][:n])
		switch into {
		case "a":
			d, dAt = a, aAt
		case "b":
			d, dAt = b, bAt
		}
		before := slices.Clone(d)
		done := combine(loopOf(op, kind), bytesOf(d[dAt:][:n]), bytesOf(a[aAt:][:n]), bytesOf(b[bAt:][:n])) / int(unsafe.Sizeof(a[0]))
		if whole := n &^ (vectorBytes/int(unsafe.Sizeof(a[0])) - 1); loopOf(op, kind) != nil && done != whole {
			t.Fatalf("operator %d on %v: %d of %d elements are combined, want %d", op, kind, done, n, whole)
		}
		for i := range d {
			want := before[i]
			if k := i - dAt; k >= 0 && k < done {
				want = naive(x[k], y[k])
			}
			if !same(d[i], want) {
				t.Fatalf("operator %d on %v, %d elements, into %s, seed %d: element %d is %v, want %v", op, kind, n, into, seed, i-dAt, d[i], want)
			}
		}
	}
	return twin{op, reflect.TypeFor[T]().Kind(), check}
}

func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

func equal[T comparable](a, b T) bool { return a == b }

func twinsOfBits[T bits]() []twin {
	value := func(r *rand.Rand) T { return T(r.Uint64()) }
	return append(twinsOfReal(value, equal[T]),
		twinOf(And, value, func(a, b T) T { return a & b }, equal[T]),
		twinOf(Or, value, func(a, b T) T { return a | b }, equal[T]),
		twinOf(Xor, value, func(a, b T) T { return a ^ b }, equal[T]))
}

func twinsOfReal[T ordered](value func(*rand.Rand) T, same func(a, b T) bool) []twin {
	return []twin{
		twinOf(Min, value, func(a, b T) T { return min(a, b) }, same),
		twinOf(Max, value, func(a, b T) T { return max(a, b) }, same),
		twinOf(Sum, value, func(a, b T) T { return a + b }, same),
		twinOf(Prod, value, func(a, b T) T { return a * b }, same),
	}
}

// odd are values that loops could treat in another way than Go.
var odd = []float64{math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, math.MaxFloat64}

func floating(r *rand.Rand) float64 {
	if i := r.IntN(2 * len(odd)); i < len(odd) {
		return odd[i]
	}
	return r.NormFloat64()
}

// same64 tells zeros by their sign, and not one of what is no number from another.
func same64(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

func same32(a, b float32) bool { return same64(float64(a), float64(b)) }

func twins() []twin {
	all := slices.Concat(
		twinsOfBits[int8](), twinsOfBits[int16](), twinsOfBits[int32](), twinsOfBits[int64](), twinsOfBits[int](),
		twinsOfBits[uint8](), twinsOfBits[uint16](), twinsOfBits[uint32](), twinsOfBits[uint64](), twinsOfBits[uint](), twinsOfBits[uintptr](),
		twinsOfReal(floating, same64), twinsOfReal(func(r *rand.Rand) float32 { return float32(floating(r)) }, same32))
	parts := func(r *rand.Rand) complex128 { return complex(floating(r), floating(r)) }
	return append(all,
		twinOf(Sum, parts, func(a, b complex128) complex128 { return a + b },
			func(a, b complex128) bool { return same64(real(a), real(b)) && same64(imag(a), imag(b)) }),
		twinOf(Sum, func(r *rand.Rand) complex64 { return complex64(parts(r)) }, func(a, b complex64) complex64 { return a + b },
			func(a, b complex64) bool {
				return same32(real(a), real(b)) && same32(imag(a), imag(b))
			}))
}

func TestLoops(t *testing.T) {
	for _, w := range twins() {
		for n := range 150 {
			w.check(t, w.op, n, n%5, n%3, n%7, []string{"d", "a", "b"}[n%3], uint64(n))
		}
	}
}

// Every loop in the table has a twin.
func TestEveryLoopIsCompared(t *testing.T) {
	compared := map[[2]int]bool{}
	for _, w := range twins() {
		compared[[2]int{int(w.op), int(w.kind)}] = true
	}
	for op := range ops {
		for k := reflect.Invalid; k <= reflect.Complex128; k++ {
			if loopOf(op, k) != nil && !compared[[2]int{int(op), int(k)}] {
				t.Errorf("operator %d on %v is compared with nothing", op, k)
			}
		}
	}
}

// Short slices are left to the caller.
func TestCombineLeavesShortSlices(t *testing.T) {
	d := make([]byte, Least-1)
	if n := Combine(Sum, reflect.Uint8, d, d, d); n != 0 {
		t.Errorf("%d bytes of %d are combined", n, len(d))
	}
}

func checkCopyPast(t *testing.T, n, dAt, sAt int, seed uint64) {
	t.Helper()
	const margin = 40
	r := rand.New(rand.NewPCG(seed, 0))
	fill := func(n int) []byte {
		v := make([]byte, n)
		for i := range v {
			v[i] = byte(r.Uint32())
		}
		return v
	}
	d, s := fill(dAt+n+margin), fill(sAt+n+margin)
	want := slices.Concat(d[:dAt], s[sAt:][:n], d[dAt+n:])
	CopyPast(d[dAt:][:n], s[sAt:][:n])
	if !slices.Equal(d, want) {
		t.Errorf("a copy of %d bytes from %d to %d, seed %d, is wrong", n, sAt, dAt, seed)
	}
}

func TestCopyPast(t *testing.T) {
	for n := range 2 * Least {
		checkCopyPast(t, n, n%37, n%41, uint64(n))
	}
	for at := range 2 * vectorBytes {
		checkCopyPast(t, 4*Least+at, at, 0, 1)
		checkCopyPast(t, 4*Least, at, 2*vectorBytes-at, 2)
	}
}

func FuzzCopyPast(f *testing.F) {
	f.Add(uint16(1000), uint8(1), uint8(2), uint64(3))
	f.Fuzz(func(t *testing.T, n uint16, dAt, sAt uint8, seed uint64) {
		checkCopyPast(t, int(n), int(dAt), int(sAt), seed)
	})
}

func FuzzLoops(f *testing.F) {
	f.Add(uint8(0), uint16(70), uint8(1), uint8(2), uint8(3), uint8(1), uint64(4))
	all := twins()
	f.Fuzz(func(t *testing.T, which uint8, n uint16, dAt, aAt, bAt, into uint8, seed uint64) {
		w := all[int(which)%len(all)]
		w.check(t, w.op, int(n%1000), int(dAt), int(aAt), int(bAt), []string{"d", "a", "b"}[into%3], seed)
	})
}
