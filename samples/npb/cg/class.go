package main

// The sizes, with the published eigenvalues.

import (
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// steps is how many steps of the conjugate gradient method one iteration makes.
const steps = 25

// class is a size of the problem.
type class struct {
	n          int // rows
	nonzeros   int // random entries of each of the vectors that the matrix is made of
	iterations int
	shift      float64
	zeta       float64 // the published estimate of the eigenvalue
}

func classOf(name string) class {
	return map[string]class{
		"S": {1400, 7, 15, 10, 8.5971775078648},
		"W": {7000, 8, 15, 12, 10.362595087124},
		"A": {14000, 11, 15, 20, 17.130235054029},
		"B": {75000, 13, 75, 60, 22.712745482631},
		"C": {150000, 15, 75, 110, 28.973605592845},
	}[name]
}

// entries is a bound of the matrix's entries: of n products of a vector with itself.
func (c class) entries() int { return c.n * (c.nonzeros + 1) * (c.nonzeros + 1) }

// result compares an estimate with the published one. Operations are counted as the benchmark does.
func (c class) result(zeta float64, took time.Duration) benchmark.Result {
	row := c.nonzeros * (c.nonzeros + 1)
	return benchmark.Result{
		Checks:     []benchmark.Check{{Name: "zeta", Value: zeta, Reference: c.zeta, Tolerance: 1e-10}},
		Elapsed:    took,
		Operations: float64(2*c.iterations*c.n) * float64(3+row+steps*(5+row)+3),
	}
}
