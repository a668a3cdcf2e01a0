package containers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestSizesDiffer: members that give different sizes are told, all of them and the PEs that are no members, with and
// without a team.
func TestSizesDiffer(t *testing.T) {
	receive := func(int, []int64) error { return nil }
	for name, made := range map[string]func(ctx context.Context, w *pgas.World, size int, opts ...containers.Option) error{
		"Array": func(ctx context.Context, w *pgas.World, size int, opts ...containers.Option) error {
			_, err := containers.NewArray[int64](ctx, w, size, opts...)
			return err
		},
		"Mailbox": func(ctx context.Context, w *pgas.World, size int, opts ...containers.Option) error {
			_, err := containers.NewMailbox(ctx, w, receive, append(opts, containers.Ring(size))...)
			return err
		},
		"Map": func(ctx context.Context, w *pgas.World, size int, opts ...containers.Option) error {
			_, err := containers.NewMap[int, int64](ctx, w, append(opts, containers.Capacity(size))...)
			return err
		},
		"Queue": func(ctx context.Context, w *pgas.World, size int, opts ...containers.Option) error {
			_, err := containers.NewQueue[int64](ctx, w, size, opts...)
			return err
		},
		"WorkPool": func(ctx context.Context, w *pgas.World, size int, opts ...containers.Option) error {
			_, err := containers.NewWorkPool[int64](ctx, w, size, opts...)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
				size := 1000
				if w.PE() == 2 {
					size = 100_000
				}
				team, err := w.Team().SplitStrided(ctx, 1, 1, 2)
				if err != nil {
					return err
				}
				if err := made(ctx, w, size, containers.Over(team)); err == nil || !strings.Contains(err.Error(), "all members give the same sizes") {
					return fmt.Errorf("PE %d, over a team: %v", w.PE(), err)
				}
				var differ *pgas.MismatchError
				if err := made(ctx, w, size); !errors.As(err, &differ) {
					return fmt.Errorf("PE %d, of all PEs: %v", w.PE(), err)
				}
				return nil
			})
		})
	}
}
