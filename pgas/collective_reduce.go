package pgas

// Reductions and scans: their arguments. Package coll has the algorithms.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/coll"
)

// Integer is every integer type.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint | ~uintptr
}

// Ordered is every type that has an order.
type Ordered interface{ Integer | Float }

// Number is every type that has a sum.
type Number interface {
	Ordered | ~complex64 | ~complex128
}

// AndReduce sets dst on every member to the bitwise and of src of all members
// (OpenSHMEM 1.6, shmem_and_reduce). See SumReduce for what all reductions share.
func AndReduce[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpAnd, dst, src, coll.AndOf[T]{}, opts)
}

// OrReduce sets dst on every member to the bitwise or of src of all members
// (OpenSHMEM 1.6, shmem_or_reduce).
func OrReduce[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpOr, dst, src, coll.OrOf[T]{}, opts)
}

// XorReduce sets dst on every member to the bitwise exclusive or of src of all members
// (OpenSHMEM 1.6, shmem_xor_reduce).
func XorReduce[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpXor, dst, src, coll.XorOf[T]{}, opts)
}

// MinReduce sets dst on every member to the least of src of all members, element by element
// (OpenSHMEM 1.6, shmem_min_reduce).
func MinReduce[T Ordered](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OperatorMin, dst, src, coll.MinOf[T]{}, opts)
}

// MaxReduce sets dst on every member to the greatest of src of all members, element by element
// (OpenSHMEM 1.6, shmem_max_reduce).
func MaxReduce[T Ordered](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OperatorMax, dst, src, coll.MaxOf[T]{}, opts)
}

// SumReduce sets dst on every member to the sum of src of all members, element by element
// (OpenSHMEM 1.6, shmem_sum_reduce).
//
// dst and src have the same length on all members; they may be the same range, but not overlap
// otherwise. When a reduction returns, dst is complete on this PE, and src may be reused. Every member
// gets the same bits. Floating-point numbers are combined in an order that depends on where the members
// are; with Reproducible it is that of the team.
//
// All members must call it; when they do not call the same thing, they get a *MismatchError. A member
// that dies ends it with *PeerError, the end of ctx with its cause; the team is of no use then.
func SumReduce[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpSum, dst, src, coll.SumOf[T]{}, opts)
}

// ProdReduce sets dst on every member to the product of src of all members, element by element
// (OpenSHMEM 1.6, shmem_prod_reduce).
func ProdReduce[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpProd, dst, src, coll.ProdOf[T]{}, opts)
}

// FuncReduce sets dst on every member to src of all members combined by f, element by element. f must be
// associative and commutative, and the same on all members; it may run on any member, and on several
// goroutines' behalf at once.
func FuncReduce[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpFunc, dst, src, coll.EachBy[T](f), opts)
}

// AndReduceNB starts AndReduce. Until the Request is complete, dst and src belong to it.
func AndReduceNB[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return AndReduce(ctx, t, dst, src, opts...) })
}

// OrReduceNB starts OrReduce. Until the Request is complete, dst and src belong to it.
func OrReduceNB[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return OrReduce(ctx, t, dst, src, opts...) })
}

// XorReduceNB starts XorReduce. Until the Request is complete, dst and src belong to it.
func XorReduceNB[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return XorReduce(ctx, t, dst, src, opts...) })
}

// MinReduceNB starts MinReduce. Until the Request is complete, dst and src belong to it.
func MinReduceNB[T Ordered](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return MinReduce(ctx, t, dst, src, opts...) })
}

// MaxReduceNB starts MaxReduce. Until the Request is complete, dst and src belong to it.
func MaxReduceNB[T Ordered](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return MaxReduce(ctx, t, dst, src, opts...) })
}

// SumReduceNB starts SumReduce. Until the Request is complete, dst and src belong to it.
func SumReduceNB[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return SumReduce(ctx, t, dst, src, opts...) })
}

// ProdReduceNB starts ProdReduce. Until the Request is complete, dst and src belong to it.
func ProdReduceNB[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return ProdReduce(ctx, t, dst, src, opts...) })
}

// FuncReduceNB starts FuncReduce. Until the Request is complete, dst and src belong to it.
func FuncReduceNB[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return FuncReduce(ctx, t, dst, src, f, opts...) })
}

// SumInscan sets dst on each member to the sum of src of the members up to and including it, in the
// order of the team (OpenSHMEM 1.6, shmem_sum_inscan). See SumReduce for what all reductions share.
func SumInscan[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return scanOn(ctx, t, coll.KindInscan, coll.OpSum, dst, src, coll.SumOf[T]{}, opts)
}

// SumExscan sets dst on each member to the sum of src of the members before it, in the order of the team,
// and to zero on the first (OpenSHMEM 1.6, shmem_sum_exscan).
func SumExscan[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return scanOn(ctx, t, coll.KindExscan, coll.OpSum, dst, src, coll.SumOf[T]{}, opts)
}

// FuncInscan is SumInscan with f, which must be associative; a comes before b in the team.
func FuncInscan[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) error {
	return scanOn(ctx, t, coll.KindInscan, coll.OpFunc, dst, src, coll.EachBy[T](f), opts)
}

// FuncExscan is SumExscan with f, which must be associative; a comes before b in the team. dst on the
// first member becomes zero.
func FuncExscan[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) error {
	return scanOn(ctx, t, coll.KindExscan, coll.OpFunc, dst, src, coll.EachBy[T](f), opts)
}

// SumInscanNB starts SumInscan. Until the Request is complete, dst and src belong to it.
func SumInscanNB[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return SumInscan(ctx, t, dst, src, opts...) })
}

// SumExscanNB starts SumExscan. Until the Request is complete, dst and src belong to it.
func SumExscanNB[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return SumExscan(ctx, t, dst, src, opts...) })
}

// FuncInscanNB starts FuncInscan. Until the Request is complete, dst and src belong to it.
func FuncInscanNB[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return FuncInscan(ctx, t, dst, src, f, opts...) })
}

// FuncExscanNB starts FuncExscan. Until the Request is complete, dst and src belong to it.
func FuncExscanNB[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) *Request {
	return t.start(ctx, func(ctx context.Context) error { return FuncExscan(ctx, t, dst, src, f, opts...) })
}

// Reproducible makes a reduction combine in the order of the team, so that a floating-point result
// depends neither on where the members are nor on the algorithm: it is that of a loop over the members.
// It costs two rounds more between hosts.
func Reproducible() CollectiveOption { return func(o *collectiveOptions) { o.Ordered = true } }

// reduceOn checks the operands of a reduction and runs it.
func reduceOn[T any](ctx context.Context, t *Team, which uint8, dst, src Slice[T], f coll.Operator[T], opts []CollectiveOption) error {
	d, s := operands("reduction", t, dst, src)
	mustHaveContext("reduction", ctx)
	return coll.Reduce(ctx, t.g, which, d, s, f, optionsOf(opts))
}

// scanOn checks the operands of a scan and runs it.
func scanOn[T any](ctx context.Context, t *Team, k coll.Kind, which uint8, dst, src Slice[T], f coll.Operator[T], opts []CollectiveOption) error {
	d, s := operands(k.String(), t, dst, src)
	mustHaveContext(k.String(), ctx)
	return coll.Scan(ctx, t.g, k, which, d, s, f, optionsOf(opts))
}
