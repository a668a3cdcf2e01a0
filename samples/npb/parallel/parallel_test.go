package parallel

import (
	"context"
	"errors"
	"testing"
)

// TestBarrier: what all have written before a barrier, each reads after it. The race detector sees a barrier that does
// not order.
func TestBarrier(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		cells := make([]int, n)
		err := Run(t.Context(), n, func(ctx context.Context, m Member) error {
			for round := range 200 {
				cells[m.ID()] = round
				if err := m.Barrier(ctx); err != nil {
					return err
				}
				for id, v := range cells {
					if v != round {
						t.Errorf("member %d of %d reads %d of member %d in round %d", m.ID(), n, v, id, round)
					}
				}
				if err := m.Barrier(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSum: sums are right, the same on all members, and stay what they were after the next Sum.
func TestSum(t *testing.T) {
	err := Run(t.Context(), 4, func(ctx context.Context, m Member) error {
		var before []float64
		for round := range 200 {
			s, err := m.Sum(ctx, float64(round), float64(m.ID()))
			if err != nil {
				return err
			}
			if s[0] != float64(4*round) || s[1] != 6 {
				t.Errorf("round %d: sums are %v", round, s)
			}
			if round > 0 && before[0] != float64(4*round-4) {
				t.Errorf("round %d has changed the sums before to %v", round, before)
			}
			before = s
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestShare: the parts follow each other and make the whole.
func TestShare(t *testing.T) {
	for _, n := range []int{0, 1, 3, 100} {
		at := 0
		for id := range 7 {
			lo, hi := Member{&team{n: 7}, id}.Share(n)
			if lo != at || hi-lo < n/7 || hi-lo > n/7+1 {
				t.Errorf("member %d of 7 has %d to %d of %d", id, lo, hi, n)
			}
			at = hi
		}
		if at != n {
			t.Errorf("the parts of %d end at %d", n, at)
		}
	}
}

// TestError: an error of one member ends the others' barrier.
func TestError(t *testing.T) {
	broken := errors.New("broken")
	err := Run(t.Context(), 3, func(ctx context.Context, m Member) error {
		if m.ID() == 1 {
			return broken
		}
		err := m.Barrier(ctx)
		if !errors.Is(err, broken) {
			t.Errorf("member %d left the barrier with %v", m.ID(), err)
		}
		return err
	})
	if !errors.Is(err, broken) {
		t.Errorf("Run returns %v", err)
	}
}
