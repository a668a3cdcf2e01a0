package main

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

func TestTranspose(t *testing.T) {
	for _, c := range []struct{ npes, width int }{{1, 1}, {1, 70}, {2, tile}, {3, tile + 5}, {4, 3}, {5, 2 * tile}} {
		t.Run(fmt.Sprintf("%d PEs of %d columns", c.npes, c.width), func(t *testing.T) {
			pgastest.Run(t, c.npes, func(ctx context.Context, w *pgas.World) error {
				return transpose(ctx, w, options{order: c.npes * c.width, iterations: 4}, io.Discard)
			})
		})
	}
}

// The naive twin of an iteration, on whole matrices.
func TestPackAndUnpack(t *testing.T) {
	for _, width := range []int{1, 2, 7, 8, 31, 32, 33, 40, 64, 67} {
		order := 2 * width
		m := &matrices{order: order, width: width, a: make([]float64, order*width), b: make([]float64, order*width)}
		for i := range m.a {
			m.a[i], m.b[i] = float64(i), float64(10000*i)
		}
		outbox := make([]float64, tile*width)
		for first := 0; first < width; first += tile {
			columns := min(tile, width-first)
			m.pack(outbox[:columns*width], width+first, columns, width%2 == 0) // the second block of A
			m.unpack(outbox[:columns*width], first, columns, 0)                // to the first block of B
		}
		for c := range width {
			for r := range order {
				a, b := float64(c*order+r), float64(10000*(c*order+r))
				if r < width {
					b += float64(r*order + width + c)
				} else {
					a++
				}
				if m.a[c*order+r] != a || m.b[c*order+r] != b {
					t.Fatalf("width %d, column %d, row %d: A %v, B %v, want %v and %v", width, c, r, m.a[c*order+r], m.b[c*order+r], a, b)
				}
			}
		}
	}
}

// A wrong element is found, wherever it is.
func TestErrorIsFound(t *testing.T) {
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		m, err := newMatrices(ctx, w, 6)
		if err != nil {
			return err
		}
		if err := m.iterate(ctx, 1); err != nil {
			return err
		}
		if w.PE() == 2 {
			m.b[11] += 0.5
		}
		wrong, err := m.error(ctx, 1)
		if err == nil && wrong != 0.5 {
			t.Errorf("the error is %v, want 0.5", wrong)
		}
		return err
	})
}
