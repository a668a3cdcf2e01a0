package startbench

// A formula for each cost: a sum of terms of the number of PEs and of hosts, with the coefficients that have the least
// squares of relative errors, so that small jobs count as much as large ones. None is negative: a cost that the
// measurements do not show is 0.

import (
	"fmt"
	"math"
)

// term is a part of a formula.
type term struct {
	name string
	of   func(pes, hosts float64) float64
}

func several(h float64) float64 {
	if h > 1 {
		return 1
	}
	return 0
}

// jobTerms are those of a cost of a whole job, peTerms those of a cost of one PE. A term stands after those that
// explain the same measurements more simply.
var (
	jobTerms = []term{
		{"a PE", func(p, _ float64) float64 { return p }},
		{"a job", func(_, _ float64) float64 { return 1 }},
		{"a PE of several hosts", func(p, h float64) float64 { return p * several(h) }},
		{"a host", func(_, h float64) float64 { return h * several(h) }},
		{"a PE and a host", func(p, h float64) float64 { return p * h * several(h) }},
	}
	peTerms = []term{
		{"a PE", func(_, _ float64) float64 { return 1 }},
		{"what all PEs share", func(p, _ float64) float64 { return 1 / p }},
		{"several hosts", func(_, h float64) float64 { return several(h) }},
		{"another PE", func(p, _ float64) float64 { return p }},
		{"a host", func(_, h float64) float64 { return h * several(h) }},
	}
)

// formula is a cost: the sum of coefficients times terms.
type formula struct {
	terms []term
	each  []float64
}

func (f formula) at(s size) float64 {
	sum := 0.0
	for i, t := range f.terms {
		sum += f.each[i] * t.of(float64(s.PEs), float64(s.Hosts))
	}
	return sum
}

// fit returns the formula of terms for costs, which are positive, of sizes, and the largest relative error that it has
// at one of them. A term that the sizes do not tell from those before it is left out.
func fit(sizes []size, costs []float64, terms []term) (f formula, worst float64, err error) {
	var columns [][]float64
	for _, t := range terms {
		column := make([]float64, len(sizes))
		for i, s := range sizes {
			column[i] = t.of(float64(s.PEs), float64(s.Hosts)) / costs[i]
		}
		if independent(column, columns) {
			f.terms, columns = append(f.terms, t), append(columns, column)
		}
	}
	if len(columns) < 2 || len(sizes) <= len(columns) {
		return f, 0, fmt.Errorf("%d sizes do not tell the %d terms of a formula apart: measure more -pes and -hosts", len(sizes), len(terms))
	}
	f.each = leastSquares(columns)
	for i, s := range sizes {
		worst = max(worst, math.Abs(f.at(s)/costs[i]-1))
	}
	return f, worst, nil
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// independent reports whether column is no sum of multiples of columns.
func independent(column []float64, columns [][]float64) bool {
	const least = 1e-6
	rest := append([]float64(nil), column...)
	var basis [][]float64
	for _, c := range append(append([][]float64(nil), columns...), rest) {
		c = append([]float64(nil), c...)
		size := dot(c, c)
		for _, b := range basis {
			k := dot(c, b)
			for i := range c {
				c[i] -= k * b[i]
			}
		}
		left := dot(c, c)
		if left <= least*size {
			return false
		}
		for i := range c {
			c[i] /= math.Sqrt(left)
		}
		basis = append(basis, c)
	}
	return true
}

// leastSquares returns the coefficients of columns, none negative, whose sum is nearest to 1 everywhere: each is
// improved in turn, until none changes.
func leastSquares(columns [][]float64) []float64 {
	const rounds, least = 100000, 1e-12
	x, rest := make([]float64, len(columns)), make([]float64, len(columns[0]))
	for i := range rest {
		rest[i] = 1
	}
	for range rounds {
		change := 0.0
		for k, c := range columns {
			length := dot(c, c)
			step := max(-x[k], dot(c, rest)/length)
			x[k] += step
			for i := range rest {
				rest[i] -= step * c[i]
			}
			change += step * step * length
		}
		if change < least*least {
			break
		}
	}
	return x
}
