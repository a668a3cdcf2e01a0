package coll

// The operators of reductions and scans: how calls name them, and their inner loops.

import (
	"reflect"

	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/vector"
)

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

// byVectors combines what fills vectors of the CPU, and returns what is left of the slices.
func byVectors[T number](op vector.Op, d, a, b []T) (restD, restA, restB []T) {
	if len(d)*int(node.SizeOf[T]()) < vector.Least {
		return d, a, b
	}
	done := vector.Combine(op, reflect.TypeFor[T]().Kind(), AsBytes(d), AsBytes(a), AsBytes(b)) / int(node.SizeOf[T]())
	return d[done:], a[done:], b[done:]
}

type AndOf[T integer] struct{}

func (AndOf[T]) into(d, a, b []T) {
	d, a, b = byVectors(vector.And, d, a, b)
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

type OrOf[T integer] struct{}

func (OrOf[T]) into(d, a, b []T) {
	d, a, b = byVectors(vector.Or, d, a, b)
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

type XorOf[T integer] struct{}

func (XorOf[T]) into(d, a, b []T) {
	d, a, b = byVectors(vector.Xor, d, a, b)
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

type MinOf[T ordered] struct{}

func (MinOf[T]) into(d, a, b []T) {
	d, a, b = byVectors(vector.Min, d, a, b)
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

type MaxOf[T ordered] struct{}

func (MaxOf[T]) into(d, a, b []T) {
	d, a, b = byVectors(vector.Max, d, a, b)
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

type SumOf[T number] struct{}

func (SumOf[T]) into(d, a, b []T) {
	d, a, b = byVectors(vector.Sum, d, a, b)
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

type ProdOf[T number] struct{}

func (ProdOf[T]) into(d, a, b []T) {
	d, a, b = byVectors(vector.Prod, d, a, b)
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
