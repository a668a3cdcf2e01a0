package dsm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// neighbours has each PE write its part of an array and read the others' parts, again and again.
func neighbours(o dsm.Options) pgastest.Body {
	o.Bytes, o.Block = 1<<16, 4096
	return func(ctx context.Context, w *pgas.World) error {
		const n, rounds = 1000, 5
		r, err := dsm.Open(ctx, w, o)
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[int64](ctx, r, n)
		if err != nil {
			return err
		}
		err = r.Run(ctx, 2, func(ctx context.Context, m dsm.Member) error {
			lo, hi := m.Share(n)
			for round := range int64(rounds) {
				mine := a.Update(lo, hi)
				for i := range mine {
					mine[i] = int64(lo+i) * (round + 1)
				}
				if err := m.Barrier(ctx); err != nil {
					return err
				}
				for i, v := range a.View(0, n) {
					if v != int64(i)*(round+1) || a.At(i) != v {
						return fmt.Errorf("member %d of %d, round %d: element %d is %d", m.ID(), m.N(), round, i, v)
					}
				}
				if err := m.Barrier(ctx); err != nil {
					return err
				}
			}
			sum, err := m.Sum(ctx, float64(m.ID()), 1)
			if want := float64(m.N()*(m.N()-1)) / 2; err == nil && (sum[0] != want || sum[1] != float64(m.N())) {
				err = fmt.Errorf("sums %v, want %g and %d", sum, want, m.N())
			}
			return err
		})
		if err != nil {
			return err
		}
		return r.Close(ctx)
	}
}

func TestNeighbours(t *testing.T) {
	pgastest.RunAll(t, 4, neighbours(dsm.Options{}))
}

func TestNeighboursPaged(t *testing.T) {
	needsPaging(t)
	pgastest.Run(t, 4, neighbours(dsm.Options{Mode: dsm.Paged}))
}

func TestNeighboursSoft(t *testing.T) {
	pgastest.RunAll(t, 4, neighbours(dsm.Options{Mode: dsm.Soft}))
}

// notRaced skips a test of the simulator under the race detector, which has nothing to find there: all PEs of a
// simulated job run on one goroutine.
func notRaced(t *testing.T) {
	if raceDetector {
		t.Skip("the simulator has one goroutine")
	}
}
