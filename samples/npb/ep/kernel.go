package main

// The pairs. Two values in (-1, 1) make a point; if it lies in the unit circle, the polar method of Marsaglia makes two
// independent numbers of normal distribution of it. The pairs come in batches that start at a place of the random
// sequence each, so batches may be made in any order. Batches form parts, at most 4096 of them, with a tally each: the
// sums are added in the order of parts, and do not depend on the number of goroutines.

import (
	"math"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
	"github.com/gopgas/gopgas/samples/npb/random"
)

const (
	seed     = 271828183
	batchLog = 16   // log2 of the pairs of a batch
	maxParts = 4096 // at most so many tallies
)

// class is a size of the problem, with its published results.
type class struct {
	log  int // log2 of the number of pairs
	x, y float64
}

func classOf(name string) class {
	return map[string]class{
		"S": {24, -3.247834652034740e3, -6.958407078382297e3},
		"W": {25, -2.863319731645753e3, -6.320053679109499e3},
		"A": {28, -4.295875165629892e3, -1.580732573678431e4},
		"B": {30, 4.033815542441498e4, -2.660669192809235e4},
		"C": {32, 4.764367927995374e4, -8.084072988043731e4},
	}[name]
}

// batches returns the number of batches, and parts that of tallies.
func (c class) batches() int { return 1 << (c.log - batchLog) }
func (c class) parts() int   { return min(c.batches(), maxParts) }

// tally is what some pairs amount to.
type tally struct {
	X, Y   float64   // sums
	Counts [10]int64 // by the integer part of the greater absolute value
}

// add adds another tally.
func (t *tally) add(o *tally) {
	t.X += o.X
	t.Y += o.Y
	for i, n := range o.Counts {
		t.Counts[i] += n
	}
}

// part returns the tally of part i.
func (c class) part(i int) (t tally) {
	each := c.batches() / c.parts()
	for b := i * each; b < (i+1)*each; b++ {
		t.batch(b)
	}
	return t
}

// batch adds the pairs of batch b.
func (t *tally) batch(b int) {
	g := random.New(seed)
	g.Skip(uint64(b) << (batchLog + 1))
	for range 1 << batchLog {
		x := 2*g.Next() - 1
		y := 2*g.Next() - 1
		square := x*x + y*y
		if square > 1 {
			continue
		}
		scale := math.Sqrt(-2 * math.Log(square) / square)
		x *= scale
		y *= scale
		t.Counts[int(max(math.Abs(x), math.Abs(y)))]++
		t.X += x
		t.Y += y
	}
}

// total returns the sum of all parts.
func total(parts []tally) (t tally) {
	for i := range parts {
		t.add(&parts[i])
	}
	return t
}

// result compares t with the published sums.
func (c class) result(t tally, took time.Duration) benchmark.Result {
	return benchmark.Result{
		Checks: []benchmark.Check{
			{Name: "sum of X", Value: t.X, Reference: c.x, Tolerance: 1e-8},
			{Name: "sum of Y", Value: t.Y, Reference: c.y, Tolerance: 1e-8},
		},
		Elapsed:    took,
		Operations: math.Ldexp(2, c.log),
	}
}
