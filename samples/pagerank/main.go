// Command pagerank ranks the vertices of a directed graph by the edges that lead to them (L. Page, S. Brin, R. Motwani,
// T. Winograd, "The PageRank citation ranking", 1999). The graph is a file of edges, or generated.
//
//	pgasrun -n 4 ./samples/pagerank -graph links.txt
//
//	read.go      edges of a file: every PE reads a part of it
//	generate.go  edges of a generated graph
//	graph.go     every edge goes to the PE that has the vertex that it leads to
//	rank.go      the iteration
//	top.go       the vertices with the highest ranks
//	report.go    what is printed
//
// tests/peers/pagerank.c is the same in C, by OpenSHMEM, a get for each source of edges.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/kernel"
)

const help = `pagerank ranks the vertices of a directed graph by the edges that lead to them, and prints the highest ranks.

usage: pgasrun [pgasrun's flags] ./samples/pagerank [flags]

  pgasrun -n 4 ./samples/pagerank                     a generated graph of 16,384 vertices
  pgasrun -n 4 ./samples/pagerank -vertices 1000000   a larger one
  pgasrun -n 4 ./samples/pagerank -graph links.txt    a graph of a file: "source destination" on each line
  pgasrun -netns 2x2 ./samples/pagerank               on two hosts made of this one

Vertices are numbered from 0 to the highest number of the file; all hosts have the file.

flags:
`

type options struct {
	graph            string
	vertices, degree int
	damping          float64
	tolerance        float64
	iterations       int
	top              int
	json             bool
}

func main() {
	var o options
	kernel.Main(&kernel.Kernel{
		Name:  "pagerank",
		Help:  help,
		Flags: o.flags,
		Check: o.check,
		Run: func(ctx context.Context, w *pgas.World, out io.Writer) error {
			return run(ctx, w, o, out)
		},
	})
}

func (o *options) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.graph, "graph", "", "read the edges from a `file` in place of generating them; # begins a comment")
	fs.IntVar(&o.vertices, "vertices", 1<<14, "how many vertices a generated graph has: a `number`")
	fs.IntVar(&o.degree, "degree", 8, "and edges for each: a `number`")
	fs.Float64Var(&o.damping, "damping", 0.85, "the `probability` of following an edge, and not going anywhere")
	fs.Float64Var(&o.tolerance, "tolerance", 1e-9, "end when the ranks have changed by less than this `sum`")
	fs.IntVar(&o.iterations, "iterations", 200, "or after so many iterations: a `number`")
	fs.IntVar(&o.top, "top", 10, "how many vertices to print: a `number`")
	fs.BoolVar(&o.json, "json", false, "print one JSON object, as pgasbench does")
}

const mostVertices, mostDegree = 1 << 30, 1 << 10

// check returns an error for flags that are out of range.
func (o *options) check(int) error {
	switch {
	case o.vertices < 1 || o.vertices > mostVertices:
		return fmt.Errorf("-vertices %d: give a number from 1 to %d", o.vertices, mostVertices)
	case o.degree < 1 || o.degree > mostDegree:
		return fmt.Errorf("-degree %d: give a number from 1 to %d", o.degree, mostDegree)
	case !(o.damping >= 0 && o.damping < 1):
		return fmt.Errorf("-damping %v: give a number from 0 to less than 1", o.damping)
	case !(o.tolerance > 0):
		return fmt.Errorf("-tolerance %v: give a number above 0", o.tolerance)
	case o.iterations < 1:
		return fmt.Errorf("-iterations %d: give 1 or more", o.iterations)
	case o.top < 1:
		return fmt.Errorf("-top %d: give 1 or more", o.top)
	}
	return nil
}

// run is collective.
func run(ctx context.Context, w *pgas.World, o options, out io.Writer) error {
	edges, vertices, err := o.edges(ctx, w)
	if err != nil || vertices == 0 {
		return err
	}
	g, err := build(ctx, w, vertices, edges)
	if err != nil {
		return err
	}
	defer w.Region(ctx, "rank").End()
	var r result
	r.took, err = kernel.Time(ctx, w, 1, func(int) (err error) {
		r.iterations, r.change, err = g.rank(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	if err := r.complete(ctx, g, len(edges), o.top); err != nil {
		return err
	}
	if w.PE() == 0 {
		if err := r.report(out, w, o.json); err != nil {
			return err
		}
	}
	return g.free(ctx)
}

// edges returns this PE's part of the edges, and the number of vertices. It is collective.
func (o *options) edges(ctx context.Context, w *pgas.World) (part []edge, vertices int, err error) {
	if o.graph == "" {
		return generate(w, o.vertices, o.degree), o.vertices, nil
	}
	return readGraph(ctx, w, o.graph)
}
