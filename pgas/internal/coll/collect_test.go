package coll_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestSizesByPull: members of teams of more than a thousand learn the lengths of blocks by gets.
func TestSizesByPull(t *testing.T) {
	pgastest.RunAll(t, 5, func(ctx context.Context, w *pgas.World) error {
		for round := range uint64(20) {
			got, err := private.Group(w.Team()).SizesByPull(ctx, 100*round+uint64(w.PE()))
			if err != nil {
				return err
			}
			for pe, n := range got {
				if want := 100*round + uint64(pe); n != want {
					return fmt.Errorf("PE %d has %d, want %d", pe, n, want)
				}
			}
		}
		return nil
	})
}
