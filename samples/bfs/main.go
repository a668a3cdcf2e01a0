// Command bfs searches a graph in breadth over coherent memory, and validates each tree that it has found, by the rules
// of the benchmark Graph500.
//
//	pgasrun -n 2 ./samples/bfs -scale 16
//
//	source.go    where edges come from: the generator of Graph500, or a file
//	graph.go     the graph in coherent memory, made of a list of edges
//	search.go    the search
//	validate.go  what must be true of its tree
//	report.go    what is printed
package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/kernel"
)

const help = `bfs searches a graph in breadth from several roots, over coherent memory, and validates every tree.

usage: pgasrun [pgasrun's flags] ./samples/bfs [flags]

  pgasrun -n 2 ./samples/bfs                   a Kronecker graph of 2^14 vertices
  pgasrun -n 2 ./samples/bfs -scale 18         one of 2^18 vertices
  pgasrun -n 2 ./samples/bfs -graph roads.txt  a graph of a file, with the numbers of two vertices on each line

Which neighbours a vertex has is data, so no program could say beforehand what to send. The PE that reads a
vertex's neighbour fetches the block that it lies in.

flags:
`

type options struct {
	scale, degree int
	graph         string
	searches      int
	goroutines    int

	source source // set by check
}

func main() {
	var o options
	kernel.Main(&kernel.Kernel{
		Name:  "bfs",
		Help:  help,
		Flags: o.flags,
		Check: o.check,
		Run: func(ctx context.Context, w *pgas.World, out io.Writer) error {
			return run(ctx, w, o, out)
		},
	})
}

func (o *options) flags(fs *flag.FlagSet) {
	fs.IntVar(&o.scale, "scale", 14, "the graph has two to the power of this `number` vertices")
	fs.IntVar(&o.degree, "degree", 16, "edges for each vertex: a `number`")
	fs.StringVar(&o.graph, "graph", "", "read the graph from a `file`, which all hosts have, in place of generating it: two numbers a line, # begins a comment")
	fs.IntVar(&o.searches, "searches", 4, "how many roots to search from: a `number`")
	fs.IntVar(&o.goroutines, "goroutines", 1, "how many goroutines a PE runs: a `number`")
}

// Vertices and neighbours are counted by 32 bits.
const mostScale, mostDegree = 26, 31

// check returns an error for flags that are out of range, and for a file that is no graph.
func (o *options) check(int) error {
	switch {
	case o.scale < 1 || o.scale > mostScale:
		return fmt.Errorf("-scale %d: give a number from 1 to %d", o.scale, mostScale)
	case o.degree < 1 || o.degree > mostDegree:
		return fmt.Errorf("-degree %d: give a number from 1 to %d", o.degree, mostDegree)
	case o.searches < 1 || o.searches > 1000:
		return fmt.Errorf("-searches %d: give a number from 1 to 1000", o.searches)
	case o.goroutines < 1:
		return fmt.Errorf("-goroutines %d: give a positive number", o.goroutines)
	}
	return o.choose()
}

// run makes the graph, searches it from several roots and validates each tree.
func run(ctx context.Context, w *pgas.World, o options, out io.Writer) error {
	g, err := build(ctx, w, o.source, o.goroutines)
	if err != nil {
		return err
	}
	var found []result
	for _, root := range g.roots(o.searches) {
		r, err := g.search(ctx, root)
		if err != nil {
			return err
		}
		if r.wrong, err = g.validate(ctx, root); err != nil {
			return err
		}
		if r.wrong > 0 {
			return fmt.Errorf("the tree from vertex %d breaks the rules %d times", root, r.wrong)
		}
		found = append(found, r)
	}
	if w.PE() == 0 {
		report(out, w, g, found)
	}
	return g.region.Close(ctx)
}
