package coherent

// What all PEs do together: a reduction, and copies from and to an array of package containers.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// Reduce combines all elements by f, which is associative, in the order of their indexes. It reports false if the array
// is empty. Each PE gets the same value. It is collective, and each PE reads its share as it sees it: put a
// Region.Barrier between it and what other PEs have written there. It moves one value of each PE to each, and is no
// fence. Its errors are those of a collective.
func (a *Array[T]) Reduce(ctx context.Context, f func(x, y T) T) (total T, any bool, err error) {
	a.mustMove(ctx, "Reduce")
	if f == nil {
		misuse("Reduce", "the function is nil")
	}
	mine, some := fold(a.memory.View(a.Share()), f)
	var part []T
	if some {
		part = []T{mine}
	}
	parts, err := pgas.AllGather(ctx, a.team, part)
	if err != nil {
		return total, false, err
	}
	var all []T
	for _, part := range parts {
		all = append(all, part...)
	}
	total, any = fold(all, f)
	return total, any, nil
}

// fold combines values in their order.
func fold[T any](values []T, f func(x, y T) T) (total T, any bool) {
	for i, v := range values {
		if i == 0 {
			total = v
			continue
		}
		total = f(total, v)
	}
	return total, len(values) > 0
}

// CopyFrom sets the elements of a to those of b, which has as many, the PEs of the World as members and any
// distribution. Each PE gets its share, by one get from each member that has some of it.
//
// It is collective. It contains a Region.Barrier before, after which all earlier puts to b are complete, and one after,
// so all PEs see all elements when it returns. Its errors are those of both and of b.GetRange. It panics with
// *pgas.UsageError if the arrays differ in length.
func (a *Array[T]) CopyFrom(ctx context.Context, b *containers.Array[T]) error {
	if err := a.meet(ctx, "CopyFrom", b); err != nil {
		return err
	}
	lo, hi := a.Share()
	if err := b.GetRange(ctx, lo, a.memory.Overwrite(lo, hi)); err != nil {
		return fmt.Errorf("coherent.CopyFrom: %w", err)
	}
	return a.region.Barrier(ctx)
}

// CopyTo sets the elements of b to those of a. Each PE puts its share, as it sees it after the Region.Barrier with
// which CopyTo begins, by one put to each member of b that has some of it. When it returns, b has all elements: it ends
// with a Region.Barrier. Else it is as CopyFrom.
func (a *Array[T]) CopyTo(ctx context.Context, b *containers.Array[T]) error {
	if err := a.meet(ctx, "CopyTo", b); err != nil {
		return err
	}
	lo, hi := a.Share()
	b.PutRange(lo, a.memory.View(lo, hi))
	return a.region.Barrier(ctx)
}

// meet begins a copy: what all PEs have done to both arrays before is complete, and visible.
func (a *Array[T]) meet(ctx context.Context, op string, b *containers.Array[T]) error {
	a.mustMove(ctx, op)
	if b.Len() != a.memory.Len() {
		misuse(op, "the arrays have %d and %s: they must have the same length", a.memory.Len(), plural.Count(b.Len(), "element"))
	}
	return a.region.Barrier(ctx)
}

// mustMove panics with *pgas.UsageError if a collective call of op is wrong.
func (a *Array[T]) mustMove(ctx context.Context, op string) {
	a.mustBe(op)
	if ctx == nil {
		misuse(op, "the context is nil: pass the one that the body of Main gets, or context.Background()")
	}
}
