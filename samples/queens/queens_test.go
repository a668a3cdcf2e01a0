package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestSolutions: the numbers of solutions are the known ones.
func TestSolutions(t *testing.T) {
	for i, want := range []int64{1, 0, 0, 2, 10, 4, 40, 92, 352, 724} {
		if got := (board{}).solutions(i + 1); got != want {
			t.Errorf("%d queens have %d solutions, want %d", i+1, got, want)
		}
	}
}

// TestSearch: PEs find what one finds, in one round or in many.
func TestSearch(t *testing.T) {
	for _, o := range []options{
		{queens: 8, depth: 3, round: time.Hour},
		{queens: 8, depth: 8, round: time.Millisecond},
		{queens: 1, depth: 3, round: time.Hour},
		{queens: 5, depth: 0, round: time.Hour},
	} {
		t.Run(fmt.Sprintf("%d queens, depth %d", o.queens, o.depth), func(t *testing.T) {
			want := o.alone(board{})
			pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
				got, err := o.search(ctx, w)
				if err == nil && got != want {
					err = fmt.Errorf("%+v, want %+v", got, want)
				}
				return err
			})
		})
	}
}
