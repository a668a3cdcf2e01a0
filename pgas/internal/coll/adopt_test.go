package coll_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestAdoptTwice: the report of a member does not change once it is there, and neither does the member's error.
func TestAdoptTwice(t *testing.T) {
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		team, err := w.Team().SplitStrided(ctx, 0, 1, 1)
		if err != nil {
			return err
		}
		if err := team.Sync(ctx); err != nil {
			return err
		}
		g := private.Group(team)
		reported, first := g.Adopt("the first call")
		if first == nil || reported != "the first call" {
			return fmt.Errorf("%w, reported %q", first, reported)
		}
		if reported, second := g.Adopt("another call"); second != first || reported != "the first call" {
			return fmt.Errorf("then %w, reported %q", second, reported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
