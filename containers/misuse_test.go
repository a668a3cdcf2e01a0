package containers_test

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestQueueMisuse: calls that cannot be right panic with one clear line.
func TestQueueMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		q, err := containers.NewQueue[int](ctx, w, 2)
		if err != nil {
			return err
		}
		qs, err := containers.NewQueues[int](ctx, w, 2)
		if err != nil {
			return err
		}
		var none *containers.Queue[int]
		var zero containers.Queue[int]
		var nilctx context.Context
		return misuses(t, map[string]func(){
			"no context":          func() { containers.NewQueue[int](nilctx, w, 1) },
			"no room":             func() { containers.NewQueue[int](ctx, w, 0) },
			"strange home":        func() { containers.NewQueue[int](ctx, w, 1, containers.Home(2)) },
			"home of many":        func() { containers.NewQueues[int](ctx, w, 1, containers.Home(1)) },
			"zero option":         func() { containers.NewQueue[int](ctx, w, 1, containers.Option{}) },
			"nil":                 func() { none.Push(ctx, 1) },
			"zero":                func() { zero.TryPop() },
			"zero Queues":         func() { new(containers.Queues[int]).Mine() },
			"Push without ctx":    func() { q.Push(nilctx, 1) },
			"Pop without ctx":     func() { q.Pop(nilctx) },
			"Pop elsewhere":       func() { qs.Of(1 - w.PE()).Pop(ctx) },
			"no such queue":       func() { qs.Of(2) },
			"Free of one of many": func() { qs.Mine().Free(ctx) },
			"Free of nil":         func() { none.Free(ctx) },
		})
	})
}

// misuses runs calls that must panic with *pgas.UsageError.
func misuses(t *testing.T, calls map[string]func()) error {
	for name, f := range calls {
		if err := misuse(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return nil
}
