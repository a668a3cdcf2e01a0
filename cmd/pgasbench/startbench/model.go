package startbench

// A formula for each cost: a sum of terms of the number of PEs and of hosts. The coefficients are those with the least
// squares of relative errors, so that small jobs count as much as large ones. None may be negative: a cost that the
// measurements do not show is 0.

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// term is a part of a formula.
type term struct {
	name string
	of   func(pes, hosts float64) float64
}

// terms are those of all formulas.
var terms = []term{
	{"a job", func(_, _ float64) float64 { return 1 }},
	{"a PE", func(p, _ float64) float64 { return p }},
	{"a host", func(_, h float64) float64 { return h }},
	{"a PE and a host", func(p, h float64) float64 { return p * (h - 1) }},
}

// formula is a cost: the sum of coefficients times terms.
type formula []float64

func (f formula) at(s size) float64 {
	sum := 0.0
	for i, c := range f {
		sum += c * terms[i].of(float64(s.PEs), float64(s.Hosts))
	}
	return sum
}

// fit returns the formula for costs of sizes, and the largest relative error that it has at one of them. Costs must be
// positive.
func fit(sizes []size, costs []float64) (formula, float64, error) {
	f := make(formula, len(terms))
	active := []int{}
	for i := range terms {
		if varies(sizes, i) {
			active = append(active, i)
		}
	}
	for { // without the terms that would be negative, the most negative one first
		x, err := solve(sizes, costs, active)
		if err != nil {
			return nil, 0, err
		}
		worst := -1
		for k := range active {
			if x[k] < 0 && (worst < 0 || x[k] < x[worst]) {
				worst = k
			}
		}
		if worst < 0 {
			for k, i := range active {
				f[i] = x[k]
			}
			break
		}
		active = append(active[:worst:worst], active[worst+1:]...)
		if len(active) == 0 {
			return nil, 0, fmt.Errorf("no formula fits")
		}
	}
	most := 0.0
	for k, s := range sizes {
		most = max(most, math.Abs(f.at(s)/costs[k]-1))
	}
	return f, most, nil
}

// varies reports whether term i can be told from the others: sizes have more than one number of hosts, say.
func varies(sizes []size, i int) bool {
	if i < 2 {
		return true
	}
	for _, s := range sizes {
		if s.Hosts != sizes[0].Hosts {
			return true
		}
	}
	return false
}

// solve returns the coefficients of the active terms.
func solve(sizes []size, costs []float64, active []int) ([]float64, error) {
	a, b := mat.NewDense(len(sizes), len(active), nil), mat.NewVecDense(len(sizes), nil)
	for r, s := range sizes {
		for c, i := range active {
			a.Set(r, c, terms[i].of(float64(s.PEs), float64(s.Hosts))/costs[r])
		}
		b.SetVec(r, 1)
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil {
		return nil, fmt.Errorf("the sizes do not tell the terms of a formula apart (%w): measure more -pes and -hosts", err)
	}
	return x.RawVector().Data, nil
}
