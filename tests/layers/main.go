// Layers counts how the files of a package depend on each other:
//
//	go run ./tests/layers ./pgas                       one line of counts, and the circles
//	go run ./tests/layers -pairs ./pgas                and the pairs of files that use each other, with the names
//	go run ./tests/layers -up ./pgas                   and the edges that run up, against an order found here
//	go run ./tests/layers -up -order layers.txt ./pgas the same against the order of that file
//	go run ./tests/layers -edges ./pgas                and every edge, with the names
//
// File a depends on file b if a uses a package-level name, a method or a field that b declares. The package is
// type-checked, so a name in a comment or of another package does not count; tests do not count either.
//
// A circle is a set of files that all depend on each other, maybe by way of others. The floors are the longest chain
// of files of which each depends on the next, a circle counting as one.
//
// The file of an order names the files of a package, the lowest layer first. A line is a layer: files of one layer may
// use each other. A # begins a comment. Every file of the package must be named once. Without -order the edges up are
// those of an order found here, of one file a layer, that few edges run up against.
//
// TestLayers of this directory holds every package to such counts, in a table whose numbers only fall.
//
//ci:computes
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// options select what is printed beside the counts.
type options struct {
	pairs, up, edges bool
	order            layers // nil: to be found
}

func main() {
	var o options
	flag.BoolVar(&o.pairs, "pairs", false, "list the pairs of files that use each other")
	flag.BoolVar(&o.up, "up", false, "list the edges that run up against the order of layers")
	flag.BoolVar(&o.edges, "edges", false, "list every edge between files")
	order := flag.String("order", "", "the order of layers is in `file`")
	flag.Parse()
	if err := run(os.Stdout, o, *order, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "layers:", err)
		os.Exit(1)
	}
}

// run prints a report on each package that matches patterns. It fails if one of them does not build, and if the order
// does not fit.
func run(w io.Writer, o options, orderFile string, patterns []string) error {
	if orderFile != "" {
		text, err := os.ReadFile(orderFile)
		if err != nil {
			return err
		}
		o.order = parseLayers(string(text))
	}
	graphs, err := load(".", patterns...)
	if err != nil {
		return err
	}
	for _, g := range graphs {
		if o.order != nil {
			if err := o.order.check(g); err != nil {
				return fmt.Errorf("%s: %w", orderFile, err)
			}
		}
		g.print(w, o)
	}
	return nil
}

// print writes the counts of g, and what o asks for.
func (g *graph) print(w io.Writer, o options) {
	c := g.circles()
	order, which := o.order, "in the order given"
	if order == nil {
		order, which = g.bestOrder(), "in the best order found"
	}
	fmt.Fprintf(w, "%s: %d files, %d edges, %d pairs that use each other, largest circle %d files, %d floors, %d edges up %s\n",
		g.pkg, len(g.files), len(g.uses), len(g.pairs()), largest(c), g.floors(), len(order.up(g)), which)
	for _, files := range c {
		fmt.Fprintf(w, "  circle of %d: %s\n", len(files), strings.Join(files, " "))
	}
	if o.pairs {
		for _, p := range g.pairs() {
			back := edge{p.to, p.from}
			fmt.Fprintf(w, "  pair %s: %s; %s: %s\n", p, g.names(p), back, g.names(back))
		}
	}
	if o.up {
		for _, e := range order.up(g) {
			fmt.Fprintf(w, "  up %s: %s\n", e, g.names(e))
		}
	}
	if o.edges {
		for _, e := range g.edges() {
			fmt.Fprintf(w, "  edge %s: %s\n", e, g.names(e))
		}
	}
}
