package containers_test

// Batch calls are calls of the team: members that are in different ones are told, all of them, in place of a hang.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// A differing is two calls that PE 0 and the others make at the same time, and how the error names them.
type differing struct {
	calls [2]string
	made  func(ctx context.Context, w *pgas.World, t *pgas.Team, over containers.Option) (first, others func() error, err error)
}

var differings = map[string]differing{
	"Flush beside Barrier": {[2]string{"Mailbox.Flush", "barrier"}, func(ctx context.Context, w *pgas.World, t *pgas.Team, over containers.Option) (first, others func() error, err error) {
		box, err := containers.NewMailbox(ctx, w, func(int, []int) error { return nil }, over)
		return func() error { return box.Flush(ctx) }, func() error { return t.Barrier(ctx) }, err
	}},
	"batches of a map": {[2]string{"StringMap.FindAll", "StringMap.UpdateAll"}, func(ctx context.Context, w *pgas.World, t *pgas.Team, over containers.Option) (first, others func() error, err error) {
		m, err := containers.NewStringMap[int](ctx, w, containers.Capacity(100), over)
		return func() error {
				_, _, err := m.FindAll(ctx, []string{"a"})
				return err
			}, func() error {
				return m.UpdateAll(ctx, maps.All(map[string]int{"a": 1}), func(a, b int) int { return a + b })
			}, err
	}},
	"changes of an array": {[2]string{"AddAll", "Array.Combine"}, func(ctx context.Context, w *pgas.World, t *pgas.Team, over containers.Option) (first, others func() error, err error) {
		a, err := containers.NewArray[int64](ctx, w, 100, over)
		return func() error { return containers.AddAll(ctx, a, []int{1}, []int64{1}) },
			func() error { return a.Combine(ctx, []int{1}, []int64{1}, func(a, b int64) int64 { return a + b }) }, err
	}},
	"Sort beside Gather": {[2]string{"Sort", "Array.Gather"}, func(ctx context.Context, w *pgas.World, t *pgas.Team, over containers.Option) (first, others func() error, err error) {
		a, err := containers.NewArray[int64](ctx, w, 100, over)
		return func() error { return containers.Sort(ctx, a) },
			func() error { return a.Gather(ctx, make([]int64, 1), []int{99}) }, err
	}},
	"Union beside Barrier": {[2]string{"Bloom.Union", "barrier"}, func(ctx context.Context, w *pgas.World, t *pgas.Team, over containers.Option) (first, others func() error, err error) {
		one, err1 := containers.NewBloom[int](ctx, w, 100, 0.01, over)
		two, err2 := containers.NewBloom[int](ctx, w, 100, 0.01, over)
		return func() error { return one.Union(ctx, two) }, func() error { return t.Barrier(ctx) }, errors.Join(err1, err2)
	}},
	"Count beside Union": {[2]string{"Bloom.Count", "Bloom.Union"}, func(ctx context.Context, w *pgas.World, t *pgas.Team, over containers.Option) (first, others func() error, err error) {
		one, err1 := containers.NewBloom[int](ctx, w, 100, 0.01, over)
		two, err2 := containers.NewBloom[int](ctx, w, 100, 0.01, over)
		return func() error {
			_, err := one.Count(ctx)
			return err
		}, func() error { return one.Union(ctx, two) }, errors.Join(err1, err2)
	}},
	"Run beside Sync": {[2]string{"WorkPool.Run", "sync"}, func(ctx context.Context, w *pgas.World, t *pgas.Team, over containers.Option) (first, others func() error, err error) {
		p, err := containers.NewWorkPool[int](ctx, w, 8, over)
		return func() error { return p.Run(ctx, func(context.Context, int, func(int)) error { return nil }) },
			func() error { return t.Sync(ctx) }, err
	}},
	"two mailboxes": {[2]string{"Mailbox.Flush", "Mailbox.Flush"}, func(ctx context.Context, w *pgas.World, t *pgas.Team, over containers.Option) (first, others func() error, err error) {
		one, err1 := containers.NewMailbox(ctx, w, func(int, []int) error { return nil }, over)
		two, err2 := containers.NewMailbox(ctx, w, func(int, []int) error { return nil }, over)
		return func() error { return one.Flush(ctx) }, func() error { return two.Flush(ctx) }, errors.Join(err1, err2)
	}},
}

func TestBatchesDiffer(t *testing.T) {
	for name, d := range differings {
		t.Run(name, func(t *testing.T) {
			run := pgastest.RunAll
			if name == "Run beside Sync" {
				run = pgastest.Run // a simulated member that polls goes on in virtual time
			}
			run(t, 3, func(ctx context.Context, w *pgas.World) error {
				team, err := w.Team().SplitStrided(ctx, 0, 1, w.NPEs()) // which is of no use after the mismatch
				if err != nil {
					return err
				}
				first, others, err := d.made(ctx, w, team, containers.Over(team))
				if err != nil {
					return err
				}
				if w.PE() == 0 {
					err = first()
				} else {
					err = others()
				}
				var differ *pgas.MismatchError
				if !errors.As(err, &differ) {
					return fmt.Errorf("PE %d got %w, not *pgas.MismatchError", w.PE(), err)
				}
				for pe, call := range d.calls {
					if !strings.Contains(strings.Join(differ.Calls, "\n"), call) {
						return fmt.Errorf("PE %d: %w does not name %s of PE %d", w.PE(), err, call, pe)
					}
				}
				return nil
			})
		})
	}
}
