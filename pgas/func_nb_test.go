package pgas_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// interval is combined by hull, which is associative and commutative.
type interval struct{ low, high int64 }

func hull(a, b interval) interval { return interval{min(a.low, b.low), max(a.high, b.high)} }

// linear is the map x -> a*x+b. Composition is associative, but not commutative.
type linear struct{ a, b int64 }

func compose(f, g linear) linear { return linear{f.a * g.a, g.a*f.b + g.b} }

func intervalOf(pe, i int) interval {
	v := int64((7*pe + 5*i) % 23)
	return interval{v, v + int64(i%4)}
}

func linearOf(pe, i int) linear { return linear{int64(pe + 2), int64(i - pe)} }

// foldTo is the oracle: the elements i of members 0 to n-1, combined in the order of the team; zero if n is 0.
func foldTo[T any](n, i int, of func(pe, i int) T, f func(a, b T) T) (v T) {
	for pe := range n {
		if pe == 0 {
			v = of(0, i)
			continue
		}
		v = f(v, of(pe, i))
	}
	return v
}

// funcCalls are the buffers of one non-blocking call of each of the three collectives.
type funcCalls struct {
	n              int
	hull           pgas.Slice[interval] // in place
	src, inc, exc  pgas.Slice[linear]
	reduce, ii, ee *pgas.Request
}

func (c *funcCalls) start(ctx context.Context, t *pgas.Team) {
	for i := range c.n {
		c.hull.Local()[i], c.src.Local()[i] = intervalOf(t.PE(), i), linearOf(t.PE(), i)
	}
	c.reduce = pgas.FuncReduceNB(ctx, t, c.hull, c.hull, hull)
	c.ii = pgas.FuncInscanNB(ctx, t, c.inc, c.src, compose)
	c.ee = pgas.FuncExscanNB(ctx, t, c.exc, c.src, compose)
}

// finish completes the last call first.
func (c *funcCalls) finish(ctx context.Context, t *pgas.Team) error {
	for _, r := range []*pgas.Request{c.ee, c.ii, c.reduce} {
		if err := r.Wait(ctx); err != nil {
			return err
		}
		if done, err := r.Test(); !done || err != nil {
			return fmt.Errorf("after Wait, Test returns %v, %v", done, err)
		}
	}
	for i := range c.n {
		if got, want := c.hull.Local()[i], foldTo(t.NPEs(), i, intervalOf, hull); got != want {
			return fmt.Errorf("FuncReduceNB of %d: element %d is %v, want %v", c.n, i, got, want)
		}
		if got, want := c.inc.Local()[i], foldTo(t.PE()+1, i, linearOf, compose); got != want {
			return fmt.Errorf("FuncInscanNB of %d: element %d is %v, want %v", c.n, i, got, want)
		}
		if got, want := c.exc.Local()[i], foldTo(t.PE(), i, linearOf, compose); got != want {
			return fmt.Errorf("FuncExscanNB of %d: element %d is %v, want %v", c.n, i, got, want)
		}
	}
	return nil
}

// TestFuncNB: the non-blocking collectives with a function of the program, many under way at once, give what a loop
// over the members gives.
func TestFuncNB(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		sizes := []int{0, 1, 7, 64, 1000, 5000} // from one cache line to more than a message holds
		room := 0
		for _, n := range sizes {
			room += n
		}
		intervals, err := pgas.Alloc[interval](ctx, w, room)
		if err != nil {
			return err
		}
		maps, err := pgas.Alloc[linear](ctx, w, 3*room)
		if err != nil {
			return err
		}
		parts, err := w.Team().SplitColor(ctx, w.PE()%2, 0)
		if err != nil {
			return err
		}
		for _, team := range []*pgas.Team{w.Team(), parts} {
			var calls []*funcCalls
			from := 0
			for _, n := range sizes {
				c := &funcCalls{n: n, hull: intervals.Range(from, from+n), src: maps.Range(3*from, 3*from+n), inc: maps.Range(3*from+n, 3*from+2*n), exc: maps.Range(3*from+2*n, 3*from+3*n)}
				c.start(ctx, team)
				calls = append(calls, c)
				from += n
			}
			for _, c := range calls {
				if err := c.finish(ctx, team); err != nil {
					return fmt.Errorf("%d PEs: %w", team.NPEs(), err)
				}
			}
		}
		return nil
	}
	for _, npes := range []int{1, 3, 4} {
		t.Run(fmt.Sprintf("%d PEs", npes), func(t *testing.T) {
			pgastest.RunAll(t, npes, body)
			if npes > 1 {
				pgastest.RunLate(t, npes, 2, body)
			}
		})
	}
}
