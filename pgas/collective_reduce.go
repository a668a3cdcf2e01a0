package pgas

// Reductions and scans: they check their arguments. Package coll has the algorithms.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/coll"
)

// Integer is the constraint of the integer types, and of every type made from one.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint | ~uintptr
}

// Ordered is the constraint of the integer and floating-point types: those that have an order.
type Ordered interface{ Integer | Float }

// Number is the constraint of the integer, floating-point and complex types: those that have a sum.
type Number interface {
	Ordered | ~complex64 | ~complex128
}

// AndReduce sets dst on every member to the bitwise and of src of all members, element by element. Arguments,
// completion and errors are those of SumReduce (OpenSHMEM 1.6, shmem_and_reduce).
func AndReduce[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpAnd, dst, src, coll.AndOf[T]{}, opts)
}

// OrReduce sets dst on every member to the bitwise or of src of all members, element by element. Arguments,
// completion and errors are those of SumReduce (OpenSHMEM 1.6, shmem_or_reduce).
func OrReduce[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpOr, dst, src, coll.OrOf[T]{}, opts)
}

// XorReduce sets dst on every member to the bitwise exclusive or of src of all members, element by element.
// Arguments, completion and errors are those of SumReduce (OpenSHMEM 1.6, shmem_xor_reduce).
func XorReduce[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpXor, dst, src, coll.XorOf[T]{}, opts)
}

// MinReduce sets dst on every member to the least of src of all members, element by element. Arguments, completion
// and errors are those of SumReduce (OpenSHMEM 1.6, shmem_min_reduce).
func MinReduce[T Ordered](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OperatorMin, dst, src, coll.MinOf[T]{}, opts)
}

// MaxReduce sets dst on every member to the greatest of src of all members, element by element. Arguments, completion
// and errors are those of SumReduce (OpenSHMEM 1.6, shmem_max_reduce).
func MaxReduce[T Ordered](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OperatorMax, dst, src, coll.MaxOf[T]{}, opts)
}

// SumReduce sets dst on every member to the sum of src of all members, element by element (OpenSHMEM 1.6,
// shmem_sum_reduce).
//
// dst and src have the same length on all members; they may be the same range, but must not overlap otherwise. When a
// reduction returns, dst is complete on this PE, and src may be reused. Every member gets the same bits.
// Floating-point numbers are combined in an order that depends on the hosts of the members; with Reproducible it is
// the order of the team.
//
// A reduction returns *MismatchError if the members call it with different arguments, *AbortedError, *PeerError,
// *NotesError, the cause of ctx, or ErrClosed (see Team). It panics with
// *UsageError if dst and src do not fit together. The algorithms are Linear, RecursiveDoubling and Ring.
func SumReduce[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpSum, dst, src, coll.SumOf[T]{}, opts)
}

// ProdReduce sets dst on every member to the product of src of all members, element by element. Arguments, completion
// and errors are those of SumReduce (OpenSHMEM 1.6, shmem_prod_reduce).
func ProdReduce[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpProd, dst, src, coll.ProdOf[T]{}, opts)
}

// FuncReduce sets dst on every member to src of all members combined by f, element by element. f must be associative
// and commutative, and the same on all members. It may run on any member, and concurrently. Arguments, completion and
// errors are those of SumReduce. It is an extension of OpenSHMEM.
func FuncReduce[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) error {
	return reduceOn(ctx, t, coll.OpFunc, dst, src, coll.EachBy[T](f), opts)
}

// AndReduceNB starts AndReduce. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of AndReduce.
func AndReduceNB[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return reduceNB(ctx, t, coll.OpAnd, dst, src, coll.AndOf[T]{}, opts)
}

// OrReduceNB starts OrReduce. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of OrReduce.
func OrReduceNB[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return reduceNB(ctx, t, coll.OpOr, dst, src, coll.OrOf[T]{}, opts)
}

// XorReduceNB starts XorReduce. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of XorReduce.
func XorReduceNB[T Integer](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return reduceNB(ctx, t, coll.OpXor, dst, src, coll.XorOf[T]{}, opts)
}

// MinReduceNB starts MinReduce. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of MinReduce.
func MinReduceNB[T Ordered](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return reduceNB(ctx, t, coll.OperatorMin, dst, src, coll.MinOf[T]{}, opts)
}

// MaxReduceNB starts MaxReduce. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of MaxReduce.
func MaxReduceNB[T Ordered](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return reduceNB(ctx, t, coll.OperatorMax, dst, src, coll.MaxOf[T]{}, opts)
}

// SumReduceNB starts SumReduce. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of SumReduce.
func SumReduceNB[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return reduceNB(ctx, t, coll.OpSum, dst, src, coll.SumOf[T]{}, opts)
}

// ProdReduceNB starts ProdReduce. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of ProdReduce.
func ProdReduceNB[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return reduceNB(ctx, t, coll.OpProd, dst, src, coll.ProdOf[T]{}, opts)
}

// FuncReduceNB starts FuncReduce. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of FuncReduce.
func FuncReduceNB[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) *Request {
	return reduceNB(ctx, t, coll.OpFunc, dst, src, coll.EachBy[T](f), opts)
}

// SumInscan sets dst on each member to the sum of src of the members up to and including it, in the order of the team
// (OpenSHMEM 1.6, shmem_sum_inscan). Arguments, completion and errors are those of SumReduce.
func SumInscan[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return scanOn(ctx, t, coll.KindInscan, coll.OpSum, dst, src, coll.SumOf[T]{}, opts)
}

// SumExscan sets dst on each member to the sum of src of the members before it, in the order of the team, and to zero
// on the first member (OpenSHMEM 1.6, shmem_sum_exscan). Arguments, completion, errors and panics are those of
// SumInscan.
func SumExscan[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	return scanOn(ctx, t, coll.KindExscan, coll.OpSum, dst, src, coll.SumOf[T]{}, opts)
}

// FuncInscan is SumInscan with f, which must be associative; a comes before b in the team. Arguments, completion,
// errors and panics are those of SumInscan. It is an extension of OpenSHMEM.
func FuncInscan[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) error {
	return scanOn(ctx, t, coll.KindInscan, coll.OpFunc, dst, src, coll.EachBy[T](f), opts)
}

// FuncExscan is SumExscan with f, which must be associative; a comes before b in the team. dst on the first member
// becomes zero. Arguments, completion, errors and panics are those of SumInscan. It is an extension of OpenSHMEM.
func FuncExscan[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) error {
	return scanOn(ctx, t, coll.KindExscan, coll.OpFunc, dst, src, coll.EachBy[T](f), opts)
}

// SumInscanNB starts SumInscan. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of SumInscan.
func SumInscanNB[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return scanNB(ctx, t, coll.KindInscan, coll.OpSum, dst, src, coll.SumOf[T]{}, opts)
}

// SumExscanNB starts SumExscan. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of SumExscan.
func SumExscanNB[T Number](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	return scanNB(ctx, t, coll.KindExscan, coll.OpSum, dst, src, coll.SumOf[T]{}, opts)
}

// FuncInscanNB starts FuncInscan. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of FuncInscan.
func FuncInscanNB[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) *Request {
	return scanNB(ctx, t, coll.KindInscan, coll.OpFunc, dst, src, coll.EachBy[T](f), opts)
}

// FuncExscanNB starts FuncExscan. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of FuncExscan.
func FuncExscanNB[T any](ctx context.Context, t *Team, dst, src Slice[T], f func(a, b T) T, opts ...CollectiveOption) *Request {
	return scanNB(ctx, t, coll.KindExscan, coll.OpFunc, dst, src, coll.EachBy[T](f), opts)
}

// Reproducible makes a reduction combine in the order of the team. A floating-point result then depends neither on
// the hosts of the members nor on the algorithm: it is that of a loop over the members. It costs two more rounds
// between hosts.
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

// reduceNB checks the operands of a reduction, and starts it.
func reduceNB[T any](ctx context.Context, t *Team, which uint8, dst, src Slice[T], f coll.Operator[T], opts []CollectiveOption) *Request {
	d, s := operands("reduction", t, dst, src)
	o := optionsOf(opts)
	coll.CheckReduce[T](t.g, d, s, o)
	return t.start(ctx, d, s, func(ctx context.Context) error { return coll.Reduce(ctx, t.g, which, d, s, f, o) })
}

// scanNB checks the operands of a scan, and starts it.
func scanNB[T any](ctx context.Context, t *Team, k coll.Kind, which uint8, dst, src Slice[T], f coll.Operator[T], opts []CollectiveOption) *Request {
	d, s := operands(k.String(), t, dst, src)
	o := optionsOf(opts)
	coll.CheckScan[T](t.g, k, d, s, o)
	return t.start(ctx, d, s, func(ctx context.Context) error { return coll.Scan(ctx, t.g, k, which, d, s, f, o) })
}
