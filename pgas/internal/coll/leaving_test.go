package coll_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// A member that has completed the last call of a team and leaves the job is missing from no call that it has entered: a
// waiter that was slow to look must not take it for one that left the call out.
func TestLeavesAfterLastCall(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	err := pgastest.Goroutines(ctx, 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		team, err := w.Team().SplitHost(ctx)
		if err != nil {
			return err
		}
		if err := team.Sync(ctx); err != nil || w.PE() == 1 {
			return err
		}
		g := private.Group(team)
		for !g.HasLeftBefore(1, g.Calls()+1) {
			if err := w.Sleep(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		if g.HasLeftBefore(1, g.Calls()) {
			return errors.New("PE 1 has left without the call that it has completed")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
