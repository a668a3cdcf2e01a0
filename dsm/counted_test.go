package dsm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/stats"
)

// TestWorldCounts: what a region counts is in World.Stats, with what an earlier region has counted.
func TestWorldCounts(t *testing.T) {
	t.Setenv("PGAS_STATS", "1")
	for _, mode := range []dsm.Mode{dsm.Paged, dsm.Soft} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			pgastest.RunProcesses(t, 2, func(ctx context.Context, w *pgas.World) error {
				var want stats.Coherent
				for range 2 {
					s, err := exchangeRounds(ctx, w, mode)
					if err != nil {
						return err
					}
					want.Faults += s.ReadFaults + s.WriteFaults + s.Upgrades
					want.Fetched += s.FastReads + s.SlowReads
					want.Released += s.FastReleases + s.Moves
				}
				if got := w.Stats().Coherent; got != want || got.Fetched == 0 || got.Released == 0 || (got.Faults > 0) != (mode == dsm.Paged) {
					return fmt.Errorf("World.Stats has %+v, and the regions have %+v", got, want)
				}
				return nil
			})
		})
	}
}

// exchangeRounds has each PE write what the next one reads, and returns what the region has counted.
func exchangeRounds(ctx context.Context, w *pgas.World, mode dsm.Mode) (s dsm.Stats, err error) {
	r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Block: 4096, Mode: mode})
	if err != nil {
		return s, err
	}
	const each = 512
	a, err := dsm.Alloc[int64](ctx, r, each*w.NPEs())
	if err != nil {
		return s, err
	}
	err = r.Run(ctx, 1, func(ctx context.Context, m dsm.Member) error {
		for round := range int64(3) {
			a.Update(each*m.ID(), each*(m.ID()+1))[0] = round
			if err := m.Barrier(ctx); err != nil {
				return err
			}
			if next := (m.ID() + 1) % m.N(); a.At(each*next) != round {
				return fmt.Errorf("member %d has %d, want %d", next, a.At(each*next), round)
			}
			if err := m.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	if err := w.Barrier(ctx); err != nil {
		return s, err
	}
	s = r.Stats()
	return s, r.Close(ctx)
}
