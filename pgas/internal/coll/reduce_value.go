package coll

// Reductions of one value of each member, which is no symmetric memory: the members' values stand in their arrival
// records, as the operands of small reductions do (reduce.go).

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// ReduceValue combines v of all members by f, and returns the result to every member. which names the operator in
// reports. A value has ValueBytes at most.
func ReduceValue[T any](ctx context.Context, g *Group, which uint8, v T, f Operator[T]) (T, error) {
	one := Range{N: 1, Size: int(node.SizeOf[T]())}
	r := reduction[T]{g, &g.layout, one, one, f}
	sum, err := r.value(ctx, &Call{Kind: kindReduceValue, op: which, Size: one.Size, count: 1, elem: reflect.TypeFor[T]()}, v)
	if err != nil {
		return v, fmt.Errorf("reduction of a value on team %s%s: %w", g.Name, callsite.At(), err)
	}
	return sum, nil
}

// ValueBytes is the size of the largest value that an arrival record holds.
const ValueBytes = uintptr(inlineBytes)

// value is the call of ReduceValue.
func (r *reduction[T]) value(ctx context.Context, c *Call, v T) (T, error) {
	g := r.g
	e, err := g.begin(ctx, c, doublingMailboxes(len(r.l.hosts), r.bytes()))
	if err != nil {
		return v, err
	}
	defer g.end()
	viewAs[T](e.data[:], 1)[0] = v
	sum := viewAs[T](scratch(&g.calls.result, max(1, r.bytes())), 1)
	if err := r.combineRecords(ctx, e, sum); err != nil {
		return v, err
	}
	return sum[0], nil
}
