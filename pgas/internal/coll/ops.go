package coll

// The operators of reductions and scans: how calls name them, and their inner loops.

// The operators of reductions and scans, as they stand in arrival records.
const (
	opNone = iota
	OpAnd
	OpOr
	OpXor
	OperatorMin
	OperatorMax
	OpSum
	OpProd
	OpFunc
)

var opNames = [16]string{"", "and", "or", "xor", "min", "max", "sum", "prod", "func"}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint | ~uintptr
}

type ordered interface {
	integer | ~float32 | ~float64
}

type number interface {
	ordered | ~complex64 | ~complex128
}

// An operator is the inner loop of one: d[i] = a[i] op b[i]. d may be a or b; the slices have one length,
// which the loops say again so that the compiler drops its checks. Operators are types without fields, since
// a function of a generic function would be allocated in each call.
type Operator[T any] interface{ into(d, a, b []T) }

type AndOf[T integer] struct{}

func (AndOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

type OrOf[T integer] struct{}

func (OrOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

type XorOf[T integer] struct{}

func (XorOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

type MinOf[T ordered] struct{}

func (MinOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

type MaxOf[T ordered] struct{}

func (MaxOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

type SumOf[T number] struct{}

func (SumOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

type ProdOf[T number] struct{}

func (ProdOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

type EachBy[T any] func(a, b T) T

func (f EachBy[T]) into(d, a, b []T) {
	for i := range d {
		d[i] = f(a[i], b[i])
	}
}
