package main

import (
	"math"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/samples/npb/npbtest"
)

func TestClassS(t *testing.T) { npbtest.Verify(t, program(), "S") }

// TestRows: rows made in parts are those of the whole, bit for bit, and the matrix is symmetric but for rounding.
func TestRows(t *testing.T) {
	c := class{n: 211, nonzeros: 5, shift: 7}
	whole := c.rows(0, c.n)
	if len(whole.columns) > c.entries() {
		t.Errorf("%d entries, more than the bound %d", len(whole.columns), c.entries())
	}
	var parts matrix
	for _, at := range [][2]int{{0, 70}, {70, 71}, {71, 211}} {
		part := c.rows(at[0], at[1])
		parts.columns = append(parts.columns, part.columns...)
		parts.values = append(parts.values, part.values...)
	}
	if !slices.Equal(parts.columns, whole.columns) || !slices.Equal(parts.values, whole.values) {
		t.Error("rows made in parts differ from the whole")
	}
	dense := make([][]float64, c.n)
	for i := range dense {
		dense[i] = make([]float64, c.n)
		for k := whole.start[i]; k < whole.start[i+1]; k++ {
			dense[i][whole.columns[k]] = whole.values[k]
		}
	}
	for i := range c.n {
		for j := range i {
			if math.Abs(dense[i][j]-dense[j][i]) > 1e-15 {
				t.Fatalf("element (%d, %d) is %v, (%d, %d) is %v", i, j, dense[i][j], j, i, dense[j][i])
			}
		}
	}
	compareProduct(t, whole, dense)
}

// compareProduct compares the sparse product with that of the dense matrix.
func compareProduct(t *testing.T, a matrix, dense [][]float64) {
	t.Helper()
	p, q := make([]float64, len(dense)), make([]float64, len(dense))
	for i := range p {
		p[i] = float64(i%13) - 6
	}
	a.multiply(q, p)
	for i, row := range dense {
		if want := dot(row, p); math.Abs(q[i]-want) > 1e-11 {
			t.Fatalf("row %d of the product is %v, want %v", i, q[i], want)
		}
	}
}
