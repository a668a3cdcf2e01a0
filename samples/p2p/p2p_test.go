package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/samples/versions"
)

// Every round checks the last row, so the modes must only come to an end.
func TestModes(t *testing.T) {
	for _, c := range []struct{ npes, rows, columns, total int }{
		{1, 5, 7, 0}, // the first PE is the last one
		{2, 1, 1, 0}, // nothing but halo
		{3, 40, 3, 0},
		{5, 3, 2, 0},  // more PEs than rows
		{3, 6, 0, 10}, // parts of different widths
	} {
		o := &options{rows: c.rows, columns: c.columns, total: c.total, iterations: 3}
		t.Run(fmt.Sprintf("%d PEs, %d rows, %d columns", c.npes, c.rows, o.all(c.npes)), func(t *testing.T) {
			pgastest.RunAll(t, c.npes, func(ctx context.Context, w *pgas.World) error {
				for _, m := range modes(o) {
					if err := m.Rounds(ctx, w, 2); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// The formula of check is that of the grid as it stands in the package: one PE's grid, done point by point.
func TestCheck(t *testing.T) {
	const rows, columns, iterations = 4, 6, 3
	var a [rows + 1][columns + 1]float64
	for j := range a {
		for i := range a[j] {
			if i == 0 || j == 0 {
				a[j][i] = float64(i + j)
			}
		}
	}
	for range iterations {
		for j := 1; j <= rows; j++ {
			for i := 1; i <= columns; i++ {
				a[j][i] = a[j][i-1] + a[j-1][i] - a[j-1][i-1]
			}
		}
		a[0][0] = -a[rows][columns]
	}
	o := &options{rows: rows, columns: columns}
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		g := &grid{Run: &versions.Run{World: w}, o: o, width: columns, cells: make([]float64, (rows+1)*columns), done: iterations}
		copy(g.row(rows), a[rows][1:])
		if err := g.check(); err != nil {
			return err
		}
		g.row(rows)[2]++
		if g.check() == nil {
			t.Error("a wrong point is not noticed")
		}
		return nil
	})
}

// BenchmarkRow measures the default of -point.
func BenchmarkRow(b *testing.B) {
	row, above := make([]float64, 1280), make([]float64, 1280)
	for b.Loop() {
		next(row, above, 1, 0)
	}
	if row[1279] != 1 {
		b.Fatalf("the last point is %v, want 1", row[1279])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1280, "ns/point")
}
