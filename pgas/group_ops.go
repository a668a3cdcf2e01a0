package pgas

// The operators of reductions and scans: how calls name them, and their inner loops.

// The operators of reductions and scans, as they stand in entries.
const (
	operatorNone = iota
	operatorAnd
	operatorOr
	operatorXor
	operatorMin
	operatorMax
	operatorSum
	operatorProd
	operatorFunc
)

var operatorNames = [16]string{"", "and", "or", "xor", "min", "max", "sum", "prod", "func"}

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
type operator[T any] interface{ into(d, a, b []T) }

type andOf[T integer] struct{}

func (andOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

type orOf[T integer] struct{}

func (orOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

type xorOf[T integer] struct{}

func (xorOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

type minOf[T ordered] struct{}

func (minOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

type maxOf[T ordered] struct{}

func (maxOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

type sumOf[T number] struct{}

func (sumOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

type prodOf[T number] struct{}

func (prodOf[T]) into(d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

type eachBy[T any] func(a, b T) T

func (f eachBy[T]) into(d, a, b []T) {
	for i := range d {
		d[i] = f(a[i], b[i])
	}
}
