package coll_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// A root that broadcasts again and again runs ahead of the others and must meet them now and then. When the
// roots go round, who has got a broadcast knows that its root has got all before it: no meeting is due.
func TestBroadcastsInTurnNeedNoMeetings(t *testing.T) {
	for _, npes := range []int{1, 2, 5} {
		pgastest.Run(t, npes, func(ctx context.Context, w *pgas.World) error {
			const rounds = 4 * coll.SlotArrivals
			dst, err := pgas.Alloc[int64](ctx, w, 1)
			if err != nil {
				return err
			}
			src, err := pgas.Alloc[int64](ctx, w, 1)
			if err != nil {
				return err
			}
			broadcasts := func(rootOf func(i int) int) (calls uint64, err error) {
				if err := w.Sync(ctx); err != nil {
					return 0, err
				}
				before := private.Group(w.Team()).Calls()
				for i := range rounds {
					src.Local()[0] = int64(1000*i + w.PE())
					if err := pgas.Broadcast(ctx, w.Team(), dst.Range(0, 1), src.Range(0, 1), rootOf(i)); err != nil {
						return 0, err
					}
					if got, want := dst.Local()[0], int64(1000*i+rootOf(i)); got != want {
						return 0, fmt.Errorf("broadcast %d brings %d, not %d", i, got, want)
					}
				}
				return private.Group(w.Team()).Calls() - before, nil
			}
			calls, err := broadcasts(func(i int) int { return i % npes })
			if err != nil {
				return err
			}
			if calls != rounds {
				return fmt.Errorf("%d broadcasts whose roots go round are %d calls", rounds, calls)
			}
			if calls, err = broadcasts(func(int) int { return npes - 1 }); err != nil {
				return err
			}
			if meetings := calls - rounds; npes > 1 && (meetings == 0 || meetings > rounds/(coll.SlotArrivals-2)) {
				return fmt.Errorf("%d broadcasts by one root take %d meetings", rounds, meetings)
			}
			return nil
		})
	}
}
