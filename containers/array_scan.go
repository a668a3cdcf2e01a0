package containers

// Prefix sums and reductions of arrays.

import (
	"context"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// PrefixSums sets each element of a to the sum of itself and of all before it.
//
// It is collective, and contains barriers. Each member sums a share of the indexes, which is its own part if the array
// is in blocks; otherwise it gets the share and puts it back.
func PrefixSums[T pgas.Number](ctx context.Context, a *Array[T]) error {
	return a.PrefixFunc(ctx, func(x, y T) T { return x + y })
}

// PrefixFunc sets each element to the combination by f of all elements up to it, in the order of their indexes. f is
// associative; it needs not be commutative. Otherwise it is PrefixSums.
func (a *Array[T]) PrefixFunc(ctx context.Context, f func(x, y T) T) error {
	const op = "Array.PrefixFunc"
	a.enter(ctx, op)
	defer a.turn.leave()
	if f == nil {
		carry.Misuse(op, "the function is nil")
	}
	lo, hi := a.members.Team.Share(a.layout.n)
	share := make([]T, hi-lo)
	if err := a.barrier(ctx, op); err != nil {
		return err
	}
	if err := a.GetRange(ctx, lo, share); err != nil {
		return err
	}
	for i := 1; i < len(share); i++ {
		share[i] = f(share[i-1], share[i])
	}
	// Every member has read its share when it learns of the others' totals.
	totals, err := pgas.AllGather(ctx, a.members.Team, share[max(0, len(share)-1):])
	if err != nil {
		return err
	}
	if before, any := fold(totals[:a.members.Me], f); any {
		for i := range share {
			share[i] = f(before, share[i])
		}
	}
	a.PutRange(lo, share)
	return a.settle(ctx, op)
}

// fold combines all values in order, and reports whether there are any.
func fold[T any](values [][]T, f func(x, y T) T) (total T, any bool) {
	for _, some := range values {
		for _, v := range some {
			if any {
				v = f(total, v)
			}
			total, any = v, true
		}
	}
	return total, any
}

// Reduce combines all elements by f, which is associative, in the order of their indexes if the array is in blocks;
// otherwise f is commutative, too. It reports false if the array is empty. Each member gets the same value.
//
// It is collective, and reads the elements of each member on that member: put a barrier between it and what other
// members change.
func (a *Array[T]) Reduce(ctx context.Context, f func(x, y T) T) (total T, any bool, err error) {
	const op = "Reduce"
	a.mustMove(ctx, op)
	if f == nil {
		carry.Misuse(op, "the function is nil")
	}
	var mine []T
	if part := a.Local(); len(part) > 0 {
		v, _ := fold([][]T{part}, f)
		mine = []T{v}
	}
	totals, err := pgas.AllGather(ctx, a.members.Team, mine)
	if err != nil {
		return total, false, err
	}
	total, any = fold(totals, f)
	return total, any, nil
}
