package pgas

// Reductions of one value: Go values in, a Go value out, without symmetric memory of the program. The values travel in
// the records with which the members enter the call (internal/coll/reduce_value.go).

import (
	"context"
	"reflect"

	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// SumValue returns the sum of v of all members of t, to every member. It is collective over t.
//
// It moves v and nothing else, and needs no symmetric memory. When it returns, all members have called it. It completes
// and orders no put. Every member gets the same bits; floating-point numbers are combined in an order that depends on
// the hosts of the members.
//
// It returns *MismatchError if the members call different collectives, *AbortedError, *PeerError, *NotesError, the
// cause of ctx, or ErrClosed (see Team), and v beside an error. It panics with *UsageError if t is no team of this PE
// or ctx is nil.
func SumValue[T Number](ctx context.Context, t *Team, v T) (T, error) {
	return reduceValue(ctx, "SumValue", t, coll.OpSum, v, coll.SumOf[T]{})
}

// MinValue returns the least v of all members of t, to every member. Completion, order and errors are those of
// SumValue.
func MinValue[T Ordered](ctx context.Context, t *Team, v T) (T, error) {
	return reduceValue(ctx, "MinValue", t, coll.OperatorMin, v, coll.MinOf[T]{})
}

// MaxValue returns the greatest v of all members of t, to every member. Completion, order and errors are those of
// SumValue.
func MaxValue[T Ordered](ctx context.Context, t *Team, v T) (T, error) {
	return reduceValue(ctx, "MaxValue", t, coll.OperatorMax, v, coll.MaxOf[T]{})
}

// Reduce1 returns v of all members of t combined by f, to every member. f must be associative and commutative, and the
// same on all members; it may run on any member. T may be any plain data, of any size. Completion, order and errors are
// those of SumValue. It panics with *UsageError also if T holds pointers, which mean nothing on another PE, or f is
// nil.
func Reduce1[T any](ctx context.Context, t *Team, v T, f func(a, b T) T) (T, error) {
	t.alive("Reduce1")
	mustHaveContext("Reduce1", ctx)
	mustBePlain(reflect.TypeFor[T](), "Reduce1")
	if f == nil {
		misuse("Reduce1", "the function is nil: give the one that combines two values")
	}
	if node.SizeOf[T]() <= coll.ValueBytes {
		return reduceValue(ctx, "Reduce1", t, coll.OpFunc, v, coll.EachBy[T](f))
	}
	all, err := AllGather(ctx, t, []T{v})
	if err != nil {
		return v, err
	}
	v = all[0][0]
	for _, other := range all[1:] {
		v = f(v, other[0])
	}
	return v, nil
}

// reduceValue checks the operands of a reduction of a value, and runs it.
func reduceValue[T any](ctx context.Context, op string, t *Team, which uint8, v T, f coll.Operator[T]) (T, error) {
	t.alive(op)
	mustHaveContext(op, ctx)
	return coll.ReduceValue(ctx, t.g, which, v, f)
}
