package main

// The matrix is the sum over k of scale^k v[k] v[k]', where v[k] has a few random entries at random places and 0.5 at
// place k, plus a constant on the diagonal. scale falls from row to row, so that the last term has a tenth of the first
// one's weight.
//
// The vectors come of one random sequence and are few numbers: each goroutine makes all of them. Of the matrix it makes
// its own rows only. Row i is the sum over those k whose v[k] has an entry at place i.

import (
	"math"
	"slices"

	"github.com/gopgas/gopgas/samples/npb/random"
)

const (
	seed      = 314159265
	condition = 0.1 // the weight of the last term, and what is added to the diagonal
)

// matrix has rows by their entries: those of row i are from start[i]-start[0] to start[i+1]-start[0] in columns and
// values.
type matrix struct {
	start   []int64
	columns []int32
	values  []float64
}

// entry is a number of a sparse vector.
type entry struct {
	at    int32
	value float64
}

// vectors returns all v[k].
func (c class) vectors() [][]entry {
	g := random.New(seed)
	g.Next() // by the definition, the first number is not used
	places := 1
	for places < c.n {
		places *= 2
	}
	all := make([][]entry, c.n)
	store := make([]entry, 0, c.n*(c.nonzeros+1))
	for k := range all {
		first := len(store)
		for len(store)-first < c.nonzeros {
			value := g.Next()
			at := int32(float64(places) * g.Next())
			if int(at) < c.n && find(store[first:], at) < 0 {
				store = append(store, entry{at, value})
			}
		}
		if i := find(store[first:], int32(k)); i >= 0 {
			store[first+i].value = 0.5
		} else {
			store = append(store, entry{int32(k), 0.5})
		}
		all[k] = store[first:]
	}
	return all
}

// find returns the index of the entry at a place, or -1.
func find(v []entry, at int32) int {
	return slices.IndexFunc(v, func(e entry) bool { return e.at == at })
}

// rows makes the rows from lo to hi-1.
func (c class) rows(lo, hi int) matrix {
	v := c.vectors()
	terms := termsOf(v, lo, hi)
	ratio := math.Pow(condition, 1/float64(c.n))
	weights := make([]float64, c.n)
	for k, w := 0, 1.0; k < c.n; k, w = k+1, w*ratio {
		weights[k] = w
	}
	a := matrix{start: make([]int64, 1, hi-lo+1)}
	sums, seen := make([]float64, c.n), make([]int32, c.n) // of one row; seen is 1 + the row that an entry belongs to
	var columns []int32
	for i := lo; i < hi; i++ {
		columns = columns[:0]
		for _, t := range terms[i-lo] {
			for _, e := range v[t.at] {
				if seen[e.at] != int32(i)+1 {
					seen[e.at], sums[e.at] = int32(i)+1, 0
					columns = append(columns, e.at)
				}
				sums[e.at] += weights[t.at] * t.value * e.value
			}
		}
		sums[i] += condition - c.shift // v[i] has an entry at i, so the diagonal is there
		slices.Sort(columns)
		for _, j := range columns {
			a.columns = append(a.columns, j)
			a.values = append(a.values, sums[j])
		}
		a.start = append(a.start, int64(len(a.columns)))
	}
	return a
}

// termsOf returns for each row from lo to hi-1 which of the vectors have an entry at its place, and that entry.
func termsOf(v [][]entry, lo, hi int) [][]entry {
	terms := make([][]entry, hi-lo)
	for k := range v {
		for _, e := range v[k] {
			if i := int(e.at); lo <= i && i < hi {
				terms[i-lo] = append(terms[i-lo], entry{int32(k), e.value})
			}
		}
	}
	return terms
}
