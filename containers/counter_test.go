package containers_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestCounter: sums that are read while members add are bounded and do not decrease; afterwards all are exact.
func TestCounter(t *testing.T) {
	const rounds = 40
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		c, err := containers.NewCounter(ctx, w)
		if err != nil {
			return err
		}
		last := int64(0)
		for i := range int64(rounds) {
			c.Add(i)
			sum, err := c.Sum(ctx)
			if err != nil {
				return err
			}
			if most := int64(w.NPEs() * rounds * (rounds - 1) / 2); sum < last || sum < c.Own() || sum > most {
				return fmt.Errorf("a sum of %d after %d, with %d added by this PE and %d by all in the end", sum, last, c.Own(), most)
			}
			last = sum
		}
		want := int64(w.NPEs() * rounds * (rounds - 1) / 2)
		if sum, err := c.SumAll(ctx); sum != want || err != nil {
			return fmt.Errorf("SumAll: %d, %v, want %d", sum, err, want)
		}
		c.Add(-c.Own())
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if sum, err := c.Sum(ctx); sum != 0 || err != nil {
			return fmt.Errorf("Sum: %d, %v, want 0", sum, err)
		}
		return c.Free(ctx)
	})
}

// TestTickets: no number comes twice, in batches or not, and near the end of the numbers.
func TestTickets(t *testing.T) {
	for _, batch := range []int{1, 7} {
		t.Run(fmt.Sprintf("batch of %d", batch), func(t *testing.T) {
			pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error { return tickets(ctx, w, batch) })
		})
	}
}

func tickets(ctx context.Context, w *pgas.World, batch int) error {
	const singles, threes = 20, 5
	const each = singles + 3*threes
	start := uint64(math.MaxUint64 - 30)
	n, err := containers.NewTicketsAt(ctx, w, start, containers.Home(1), containers.Batch(batch))
	if err != nil {
		return err
	}
	all, err := pgas.Alloc[uint64](ctx, w, each*(1+w.NPEs()))
	if err != nil {
		return err
	}
	got := all.Local()[:0]
	for i := range singles {
		got = append(got, n.Next())
		if i < threes {
			first := n.NextN(3)
			got = append(got, first, first+1, first+2)
		}
	}
	if err := pgas.FCollect(ctx, w.Team(), all.Range(each, each*(1+w.NPEs())), all.Range(0, each)); err != nil {
		return err
	}
	numbers := slices.Clone(all.Local()[each:])
	for i := range numbers {
		numbers[i] -= start
	}
	slices.Sort(numbers)
	if len(slices.Compact(numbers)) != each*w.NPEs() {
		return errors.New("a number came twice")
	}
	if most := uint64(w.NPEs() * (each + batch)); numbers[len(numbers)-1] >= most {
		return fmt.Errorf("number %d of a job that needs %d at most", numbers[len(numbers)-1], most)
	}
	return n.Free(ctx)
}

// TestCounterDies: a sum with a member that is lost is an error, and a number from a home that is lost a panic.
func TestCounterDies(t *testing.T) {
	cfg := sim.Config{Deaths: []sim.Death{{PE: 1, At: time.Millisecond}}}
	sums, numbers := 0, 0
	_, err := sim.Run(t.Context(), cfg, 3, func(ctx context.Context, w *pgas.World) error {
		c, err := containers.NewCounter(ctx, w)
		if err != nil {
			return err
		}
		n, err := containers.NewTickets(ctx, w, containers.Home(1))
		if err != nil {
			return err
		}
		for err == nil {
			_, err = c.Sum(ctx)
		}
		if isAbout(err, 1) {
			sums++
		}
		defer func() {
			if err, ok := recover().(error); ok && isAbout(err, 1) {
				numbers++
			}
		}()
		n.Next()
		return nil
	})
	if err != nil && !isAbout(err, 1) || sums != 2 || numbers != 2 {
		t.Errorf("%v, and %d sums and %d numbers were told of the death, want 2 and 2", err, sums, numbers)
	}
}

func TestCounterMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		c, err := containers.NewCounter(ctx, w)
		if err != nil {
			return err
		}
		n, err := containers.NewTickets(ctx, w)
		if err != nil {
			return err
		}
		var nilctx context.Context
		return misuses(t, map[string]func(){
			"no batch":       func() { containers.NewTickets(ctx, w, containers.Batch(0)) },
			"strange home":   func() { containers.NewTickets(ctx, w, containers.Home(-1)) },
			"strange option": func() { containers.NewCounter(ctx, w, containers.Batch(2)) },
			"no numbers":     func() { n.NextN(0) },
			"zero Tickets":   func() { new(containers.Tickets).Next() },
			"nil Counter":    func() { (*containers.Counter)(nil).Add(1) },
			"Sum without":    func() { c.Sum(nilctx) },
			"SumAll without": func() { c.SumAll(nilctx) },
			"Free without":   func() { c.Free(nilctx) },
		})
	})
}
