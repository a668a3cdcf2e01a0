package containers

// Redistribution: the elements of an array in another array, which has another distribution or other members.

import (
	"context"

	"github.com/gopgas/gopgas/internal/carry"
)

// CopyFrom sets the elements of a to those of b, which has as many, the same members, and any distribution. If one of
// them is in blocks, each member moves to or from each other at most one piece; if none is, the elements are gathered.
//
// It is collective, and contains a barrier before and after. It panics with *pgas.UsageError if the arrays differ in
// length or members.
func (a *Array[T]) CopyFrom(ctx context.Context, b *Array[T]) error {
	const op = "Array.CopyFrom"
	a.enter(ctx, op)
	defer a.turn.leave()
	b.mustMove(ctx, op)
	if a.layout.n != b.layout.n || a.members.Team != b.members.Team {
		carry.Misuse(op, "the array has %v, the other %v: they must have the same length and members", &a.layout, &b.layout)
	}
	if err := a.barrier(ctx, op); err != nil {
		return err
	}
	if err := a.copyFrom(ctx, b); err != nil {
		return err
	}
	return a.settle(ctx, op)
}

func (a *Array[T]) copyFrom(ctx context.Context, b *Array[T]) error {
	switch mine := a.Local(); {
	case a.layout.block == b.layout.block:
		copy(mine, b.Local())
		return nil
	case a.layout.block == 0:
		return b.GetRange(ctx, a.layout.starts[a.members.Me], mine)
	case b.layout.block == 0:
		a.PutRange(b.layout.starts[b.members.Me], b.Local())
		return nil
	default:
		idx := make([]int, len(mine))
		for at := range idx {
			idx[at] = a.layout.index(a.members.Me, at)
		}
		return b.Gather(ctx, mine, idx)
	}
}
