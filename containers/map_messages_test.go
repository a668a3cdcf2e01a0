package containers_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestMapMessages counts what a call for a key of another host sends, answers included: the numbers are those of
// docs/packages/containers.md. That a find which meets no key in a segment that it did not know looks twice is what
// keeps it right while the segment comes into being, which no simulated get shows: it takes a segment at one moment.
func TestMapMessages(t *testing.T) {
	_, err := sim.Run(t.Context(), sim.Config{Topology: "host:1"}, 2, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(100))
		if err != nil {
			return err
		}
		if err := errors.Join(w.Barrier(ctx), mapMessages(ctx, t, w, m), w.Barrier(ctx), m.OnlyFinds(ctx)); err != nil {
			return err
		}
		if w.PE() == 0 {
			absent := farKey(m, 1000)
			err = counts(ctx, t, "find of no key when nobody writes", 2, func() error { m.Find(absent); return nil })
		}
		return errors.Join(err, w.Barrier(ctx))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func mapMessages(ctx context.Context, t *testing.T, w *pgas.World, m *containers.Map[int, int64]) error {
	if w.PE() != 0 {
		return nil
	}
	key := farKey(m, 0)
	find := func() error { m.Find(key); return nil }
	insert := func() error { _, err := m.Insert(ctx, key, 1); return err }
	return errors.Join(
		counts(ctx, t, "first find of no key", 8, find),
		counts(ctx, t, "find of no key", 4, find),
		counts(ctx, t, "insert", 7, insert),
		counts(ctx, t, "find", 2, find))
}

// farKey returns a key of PE 1, not less than least.
func farKey(m *containers.Map[int, int64], least int) int {
	for m.Home(least) != 1 {
		least++
	}
	return least
}

func counts(ctx context.Context, t *testing.T, what string, want uint64, call func() error) error {
	before, err := sim.Sent(ctx)
	if err := errors.Join(err, call()); err != nil {
		return err
	}
	after, err := sim.Sent(ctx)
	if got := after.Messages - before.Messages; got != want {
		t.Errorf("%s: %d messages, want %d", what, got, want)
	}
	return err
}
