package main

// Sparse matrices: which columns of each row are not zero. Row i is on PE i mod n.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/pgas"
)

// matrix is the rows of this PE.
type matrix struct {
	rows    int      // of all PEs
	starts  []uint32 // of each of this PE's rows in columns, and the end of the last
	columns []uint32 // ascending within a row
}

// newMatrix draws a matrix of rows rows: for each row degree columns below bound(row), of which some may be the same.
func newMatrix(w *pgas.World, rows, degree int, bound func(row int) int) *matrix {
	m := &matrix{rows: rows, starts: []uint32{0}}
	for row := w.PE(); row < rows; row += w.NPEs() {
		m.columns = append(m.columns, drawRow(row, degree, bound(row))...)
		m.starts = append(m.starts, uint32(len(m.columns)))
	}
	return m
}

// drawRow draws the columns of a row, all below bound.
func drawRow(row, degree, bound int) []uint32 {
	if bound == 0 {
		return nil
	}
	columns := make([]uint32, degree)
	for k := range columns {
		columns[k] = uint32(below(uint64(row)+2, uint64(k), bound))
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

// row returns the columns of this PE's row at place at.
func (m *matrix) row(at int) []uint32 { return m.columns[m.starts[at]:m.starts[at+1]] }

// len returns the number of this PE's rows.
func (m *matrix) len() int { return len(m.starts) - 1 }

// nonzeros returns the number of elements of all PEs that are not zero. It is collective.
func (m *matrix) nonzeros(ctx context.Context, w *pgas.World) (int, error) {
	return pgas.SumValue(ctx, w.Team(), len(m.columns))
}
