package main

// What is printed: a line for each search, and the mean of the rates as Graph500 takes it.

import (
	"fmt"
	"io"

	"github.com/gopgas/gopgas/pgas"
)

// report prints what PE 0 has measured.
func report(out io.Writer, w *pgas.World, g *graph, found []result) {
	fmt.Fprintf(out, "%v on %d PEs of %d host(s), mode %v\n", g, w.NPEs(), len(w.Hosts()), g.region.Mode())
	var inverse float64 // the sum of the searches' times for one edge
	for _, r := range found {
		s := r.took.Seconds()
		inverse += s / float64(max(1, r.edges))
		fmt.Fprintf(out, "from %d: %d vertices in %d levels, %d edges, %.4f s, %.2f million edges a second; the tree is valid\n",
			r.root, r.reached, r.levels, r.edges, s, float64(r.edges)/s/1e6)
	}
	if len(found) > 0 {
		fmt.Fprintf(out, "harmonic mean: %.2f million edges a second\n", float64(len(found))/inverse/1e6)
	}
}
