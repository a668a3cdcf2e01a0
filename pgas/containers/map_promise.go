package containers

// Promises: what all members say that they will do for a while makes it cheaper. The Berkeley Container Library (B. Brock
// and others, "BCL: a cross-platform distributed data structures library", 2019) has the idea. Two are made by the calls
// themselves: the batches of map_batch.go. Here is the third, that nobody writes.

import (
	"context"
)

// OnlyFinds promises that no member writes until the next Writes. A Find for a shard of another host then costs one round trip also if it
// finds nothing. Writes panic with *pgas.UsageError. It is collective, and a barrier: all earlier writes are complete
// when it returns.
func (m *Map[K, V]) OnlyFinds(ctx context.Context) error {
	return m.promise(ctx, "OnlyFinds", true)
}

// Writes ends the promise of OnlyFinds. It is collective, and a barrier.
func (m *Map[K, V]) Writes(ctx context.Context) error {
	return m.promise(ctx, "Writes", false)
}

func (m *Map[K, V]) promise(ctx context.Context, op string, still bool) error {
	m.mustBelong(ctx, op)
	m.mustBeOpen(op)
	if m.busy != "" {
		misuse(op, "%s is under way", m.busy)
	}
	if err := m.team.Barrier(ctx); err != nil {
		return err
	}
	m.shards.still = still
	return nil
}

// mustBeFree panics with *pgas.UsageError if a call of op, which writes, is promised not to come, or comes from within a batch.
func (m *Map[K, V]) mustBeFree(op string) {
	if m.busy != "" {
		misuse(op, "%s is under way: what it calls must not use the map", m.busy)
	}
	if m.shards.still && op != "FindAll" {
		misuse(op, "OnlyFinds has promised that nobody writes: call Writes first")
	}
}
