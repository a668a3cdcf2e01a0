package containers

// Batched changes of elements anywhere in an array.
//
// What a member changes on its own host it changes itself, by stores and by the CPU's atomics. What is on another host
// travels in batches to the owner, which changes it in the same way.

import (
	"context"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// Scatter sets element idx[k] to src[k], for all k. If an index comes more than once, one of its values stays.
//
// It is collective; members may give different numbers of elements, or none. It returns when the elements of all
// members are set. It panics with *pgas.UsageError if idx and src differ in length or an index is out of range.
func (a *Array[T]) Scatter(ctx context.Context, idx []int, src []T) error {
	const op = "Array.Scatter"
	a.enter(ctx, op)
	defer a.turn.leave()
	mustPair(op, len(idx), len(src))
	m := a.moves
	part := a.part.Local()
	m.onValues = func(_ int, values []move[T]) error {
		for i := range values {
			part[values[i].at] = values[i].v
		}
		return nil
	}
	a.mustHaveAll(op, idx)
	return a.change(ctx, op, func(ctx context.Context) error {
		for k, i := range idx {
			pe, at := a.layout.locate(i)
			if mine := a.mapped[pe]; mine != nil {
				mine[at] = src[k]
			} else if err := m.values.send(ctx, pe, move[T]{uint32(at), src[k]}); err != nil {
				return err
			}
		}
		return nil
	}, m.values.flush)
}

// change makes a batched change, a call of op: it sends and flushes, and then no member returns before the stores of
// all are complete.
func (a *Array[T]) change(ctx context.Context, op string, send, flush func(context.Context) error) error {
	err := a.joint(ctx, op, func(ctx context.Context) error {
		if err := send(ctx); err != nil {
			return err
		}
		return flush(ctx)
	})
	if err != nil {
		return err
	}
	return a.settle(ctx, op)
}

// settle ends a change, a call of op: no member returns before the stores of all are complete. Members that have made
// different changes find out here, since batches of both may have gone through.
func (a *Array[T]) settle(ctx context.Context, op string) error {
	if err := a.members.Ctx.Quiet(ctx); err != nil {
		return err
	}
	return a.barrier(ctx, op)
}

// mustPair panics with *pgas.UsageError unless there are as many values as indexes.
func mustPair(op string, indexes, values int) {
	if indexes != values {
		carry.Misuse(op, "%s for %s: give one for each", plural.Count(values, "value"), plural.Count(indexes, "index"))
	}
}

// Count adds 1 to element idx[k] of a, atomically, for all k: a histogram. An index that comes more than once counts
// each time. 4 bytes travel for each element on another host.
//
// It is collective; members may give different numbers of indexes, or none. It returns when the counts of all members
// are added. It panics with *pgas.UsageError if an index is out of range.
func Count[T pgas.Word](ctx context.Context, a *Array[T], idx []int) error {
	const op = "Count"
	a.enter(ctx, op)
	defer a.turn.leave()
	m := a.moves
	words := pgas.AtomicsOf(a.part.Range(0, a.part.Len()))
	m.onPlaces = func(_ int, places []uint32) error {
		for _, at := range places {
			words.At(int(at)).Inc(a.members.Me)
		}
		return nil
	}
	a.mustHaveAll(op, idx)
	return a.change(ctx, op, func(ctx context.Context) error {
		for _, i := range idx {
			pe, at := a.layout.locate(i)
			if a.mapped[pe] != nil {
				words.At(at).Inc(pe)
			} else if err := m.places.send(ctx, pe, uint32(at)); err != nil {
				return err
			}
		}
		return nil
	}, m.places.flush)
}

// AddAll adds values[k] to element idx[k] of a, atomically, for all k. Otherwise it is Count.
func AddAll[T pgas.Word](ctx context.Context, a *Array[T], idx []int, values []T) error {
	const op = "AddAll"
	a.enter(ctx, op)
	defer a.turn.leave()
	words := pgas.AtomicsOf(a.part.Range(0, a.part.Len()))
	return a.update(ctx, op, idx, values, func(pe, at int, v T) { words.At(at).Add(pe, v) })
}

// MaxAll sets element idx[k] of a to the larger of itself and values[k], atomically, for all k. Otherwise it is Count.
func MaxAll[T pgas.Word](ctx context.Context, a *Array[T], idx []int, values []T) error {
	const op = "MaxAll"
	a.enter(ctx, op)
	defer a.turn.leave()
	words := pgas.AtomicsOf(a.part.Range(0, a.part.Len()))
	return a.update(ctx, op, idx, values, func(pe, at int, v T) { words.At(at).Max(pe, v) })
}

// MinAll sets element idx[k] of a to the smaller of itself and values[k], atomically, for all k. Otherwise it is Count.
func MinAll[T pgas.Word](ctx context.Context, a *Array[T], idx []int, values []T) error {
	const op = "MinAll"
	a.enter(ctx, op)
	defer a.turn.leave()
	words := pgas.AtomicsOf(a.part.Range(0, a.part.Len()))
	return a.update(ctx, op, idx, values, func(pe, at int, v T) { words.At(at).Min(pe, v) })
}

// update changes elements by apply, which is atomic: this member's host's here, others at their owners.
func (a *Array[T]) update(ctx context.Context, op string, idx []int, values []T, apply func(pe, at int, v T)) error {
	mustPair(op, len(idx), len(values))
	m := a.moves
	m.onValues = func(_ int, values []move[T]) error {
		for i := range values {
			apply(a.members.Me, int(values[i].at), values[i].v)
		}
		return nil
	}
	a.mustHaveAll(op, idx)
	return a.change(ctx, op, func(ctx context.Context) error {
		for k, i := range idx {
			pe, at := a.layout.locate(i)
			if a.mapped[pe] != nil {
				apply(pe, at, values[k])
			} else if err := m.values.send(ctx, pe, move[T]{uint32(at), values[k]}); err != nil {
				return err
			}
		}
		return nil
	}, m.values.flush)
}

// Combine sets element idx[k] to f(element, values[k]), for all k, in any order. The owner of an element calls f for
// all members, one call at a time, so f needs not be atomic; on another host or not, each value travels to the owner.
//
// It is collective; members may give different numbers of indexes, or none, and the same f. It returns when the values
// of all members are combined. It panics with *pgas.UsageError if idx and values differ in length or an index is out of
// range.
func (a *Array[T]) Combine(ctx context.Context, idx []int, values []T, f func(element, value T) T) error {
	const op = "Array.Combine"
	a.enter(ctx, op)
	defer a.turn.leave()
	mustPair(op, len(idx), len(values))
	if f == nil {
		carry.Misuse(op, "the function is nil")
	}
	m := a.moves
	part := a.part.Local()
	m.onValues = func(_ int, values []move[T]) error {
		for i := range values {
			p := &part[values[i].at]
			*p = f(*p, values[i].v)
		}
		return nil
	}
	a.mustHaveAll(op, idx)
	return a.change(ctx, op, func(ctx context.Context) error {
		for k, i := range idx {
			pe, at := a.layout.locate(i)
			if pe == a.members.Me {
				part[at] = f(part[at], values[k])
			} else if err := m.values.send(ctx, pe, move[T]{uint32(at), values[k]}); err != nil {
				return err
			}
		}
		return nil
	}, m.values.flush)
}
