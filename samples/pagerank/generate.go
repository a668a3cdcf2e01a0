package main

// A generated graph, in which few vertices have many edges: an edge leads from any vertex to one of the lower half with
// probability 3/4, again and again until one is left. Numbers are then spread. An edge depends on its own number only,
// so that PEs generate parts, and any number of PEs the same graph.

import (
	"math/rand/v2"

	"github.com/gopgas/gopgas/pgas"
)

// generate returns this PE's part of the edges. It is local.
func generate(w *pgas.World, vertices, degree int) []edge {
	lo, hi := w.Team().Share(vertices * degree)
	edges := make([]edge, 0, hi-lo)
	for i := lo; i < hi; i++ {
		r := rand.New(rand.NewPCG(uint64(i), 0))
		edges = append(edges, edge{int64(r.IntN(vertices)), int64(spread(skewed(r, vertices), vertices))})
	}
	return edges
}

// skewed returns a number below n, mostly a small one.
func skewed(r *rand.Rand, n int) int {
	lo, hi := 0, n
	for hi-lo > 1 {
		middle := lo + (hi-lo+1)/2
		if r.IntN(4) < 3 {
			hi = middle
		} else {
			lo = middle
		}
	}
	return lo
}

// spread returns the place of vertex v of n in a sequence that jumps by about 0.618 of n: another one for each v.
func spread(v, n int) int {
	step := max(1, int(0.618*float64(n)))
	for gcd(step, n) != 1 {
		step++
	}
	return v * step % n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
