package main

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

func TestStencil(t *testing.T) {
	for _, c := range []struct{ npes, order int }{{1, 5}, {2, 33}, {3, 20}, {4, 21}, {6, 50}, {9, 6}} {
		t.Run(fmt.Sprintf("%d PEs, order %d", c.npes, c.order), func(t *testing.T) {
			pgastest.Run(t, c.npes, func(ctx context.Context, w *pgas.World) error {
				return stencil(ctx, w, options{order: c.order, iterations: 4}, io.Discard)
			})
		})
	}
}

// Every point against a naive twin, which has the whole grid and no parts. The values are whole and
// irregular, so that a neighbour that is taken from the wrong place shows, and sums are exact.
func TestEveryPoint(t *testing.T) {
	const order, iterations = 23, 3
	want := naive(order, iterations)
	for npes := 1; npes <= 12; npes++ {
		pgastest.RunGoroutines(t, npes, func(ctx context.Context, w *pgas.World) error {
			g, err := newGrid(ctx, w, order)
			if err != nil {
				return err
			}
			for y := range g.height {
				for x := range g.width {
					g.row(g.in, x, y, 1)[0] = irregular(g.left+x, g.top+y)
				}
			}
			for i := range uint64(iterations) {
				if err := g.iterate(ctx, i+1); err != nil {
					return err
				}
			}
			for y := range g.height {
				for x := range g.width {
					if got, want := g.row(g.out, x, y, 1)[0], want[(g.top+y)*order+g.left+x]; got != want {
						return fmt.Errorf("%d PEs: point %d, %d is %v, not %v", npes, g.left+x, g.top+y, got, want)
					}
				}
			}
			return nil
		})
	}
}

func irregular(x, y int) float64 { return float64((x*x*31 + y*y*17 + x*y*7) % 1009) }

func naive(order, iterations int) []float64 {
	in, out := make([]float64, order*order), make([]float64, order*order)
	for y := range order {
		for x := range order {
			in[y*order+x] = irregular(x, y)
		}
	}
	for range iterations {
		for y := radius; y < order-radius; y++ {
			for x := radius; x < order-radius; x++ {
				for d, weight := range map[int]float64{-2: -far, -1: -near, 1: near, 2: far} {
					out[y*order+x] += weight*in[y*order+x+d] + weight*in[(y+d)*order+x]
				}
			}
		}
		for i := range in {
			in[i]++
		}
	}
	return out
}

// A part that is wrong shows in the norm.
func TestNorm(t *testing.T) {
	pgastest.RunGoroutines(t, 4, func(ctx context.Context, w *pgas.World) error {
		g, err := newGrid(ctx, w, 8)
		if err != nil {
			return err
		}
		x, _, y, _ := g.inner()
		g.row(g.out, x, y, 1)[0] = -16 * float64(w.PE()) // there are 16 inner points
		norm, err := g.norm(ctx)
		if want := 6.0; err == nil && norm != want {
			t.Errorf("the norm is %v, want %v", norm, want)
		}
		return err
	})
}

func TestCut(t *testing.T) {
	for npes, want := range map[int][2]int{1: {1, 1}, 2: {2, 1}, 6: {3, 2}, 7: {7, 1}, 12: {4, 3}, 16: {4, 4}} {
		if across, down := cut(npes); across != want[0] || down != want[1] {
			t.Errorf("%d PEs: %d x %d, want %v", npes, across, down, want)
		}
	}
}
