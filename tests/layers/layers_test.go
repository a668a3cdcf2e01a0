package main

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// limits are how far a package may be from layers without circles. A package that is not listed may not have a circle.
// The numbers only fall: a change that lowers one lowers it here, too.
var limits = map[string]struct{ circle, pairs int }{
	"pgas":               {circle: 27, pairs: 23},
	"pgas/internal/node": {circle: 3, pairs: 1},
}

// internals are the packages below pgas/internal, the lowest layer first: one may import those before it.
var internals = []string{"checked", "symheap", "locklocal", "vector", "recorded", "node", "coll", "private"}

const internal = "pgas/internal/"

// TestLayers: the files of pgas and of the packages below pgas/internal form no larger circles than stated.
func TestLayers(t *testing.T) {
	var patterns []string
	for _, name := range internals {
		patterns = append(patterns, "./"+internal+name)
	}
	for name := range limits {
		patterns = append(patterns, "./"+name)
	}
	slices.Sort(patterns)
	graphs, err := load("../..", slices.Compact(patterns)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range graphs {
		limit, stated := limits[g.pkg]
		if !stated {
			limit.circle = 1
		}
		checkLimit(t, g.pkg, "files in the largest circle", largest(g.circles()), limit.circle)
		checkLimit(t, g.pkg, "pairs of files that use each other", len(g.pairs()), limit.pairs)
	}
}

func checkLimit(t *testing.T, pkg, what string, n, limit int) {
	t.Helper()
	switch {
	case n > limit:
		t.Errorf("%s has %d %s, more than the %d of the table: `go run ./tests/layers -pairs -up ./%[1]s` shows which names tie them", pkg, n, what, limit)
	case n < limit:
		t.Errorf("%s has %d %s, fewer than the %d of the table: lower the number in layers_test.go", pkg, n, what, limit)
	}
}

// TestInternalImports: the packages below pgas/internal import each other downwards only, and no package above them.
func TestInternalImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./pgas/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"internal/callsite", "internal/plural", "pgas/boot", "pgas/boot/record", "pgas/topo", "pgas/transport", "pgas/transport/shm"}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		if name := strings.TrimPrefix(paths[0], module); strings.HasPrefix(name, internal) {
			imports[name] = paths[1:]
		}
	}
	for _, base := range internals {
		name := path.Join(internal, base)
		paths, ok := imports[name]
		if !ok {
			t.Errorf("internals names %s, which does not exist", name)
		}
		for _, p := range paths {
			if dep, ours := strings.CutPrefix(p, module); ours && !slices.Contains(allowed, dep) {
				t.Errorf("%s imports %s, which is not below it", name, dep)
			}
		}
		allowed = append(allowed, name)
		delete(imports, name)
	}
	for name := range imports {
		t.Errorf("internals lacks %s: give it its place among the layers", name)
	}
}

// TestGraph: what the command says of a small package.
func TestGraph(t *testing.T) {
	var out strings.Builder
	if err := run(&out, options{pairs: true, up: true, edges: true}, "", []string{"./testdata/circle"}); err != nil {
		t.Fatal(err)
	}
	const want = `tests/layers/testdata/circle: 4 files, 7 edges, 2 pairs that use each other, largest circle 3 files, 2 floors, 2 edges up in the best order found
  circle of 3: a.go b.go d.go
  pair a.go -> b.go: names; b.go -> a.go: list list.first list.items
  pair a.go -> d.go: list.last; d.go -> a.go: list.items×2 list upper
  up a.go -> b.go: names
  up a.go -> d.go: list.last
  edge a.go -> b.go: names
  edge a.go -> c.go: ground×2
  edge a.go -> d.go: list.last
  edge b.go -> a.go: list list.first list.items
  edge b.go -> c.go: ground
  edge d.go -> a.go: list.items×2 list upper
  edge d.go -> b.go: firstName
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

// TestShapes: the counts of graphs, each given as its edges, from the letters of a word to its first.
func TestShapes(t *testing.T) {
	tests := []struct {
		name                           string
		edges                          string // "ab" is an edge from a to b
		circles, pairs, floors, upward int
	}{
		{"nothing", "", 1, 0, 0, 0},
		{"chain", "ab bc cd", 1, 0, 4, 0},
		{"diamond", "ab ac bd cd", 1, 0, 3, 0},
		{"pair", "ab ba", 2, 1, 1, 1},
		{"circle without a pair", "ab bc ca", 3, 0, 1, 1},
		{"circle on a chain", "xa ab bc ca cy yz", 3, 0, 4, 1},
		{"two circles", "ab ba bc cd dc", 2, 2, 2, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := &graph{pkg: "p", uses: map[edge]map[string]int{}}
			for _, e := range strings.Fields(test.edges) {
				g.add(edge{e[:1], e[1:]}, "Name")
				g.files = append(g.files, e[:1], e[1:])
			}
			slices.Sort(g.files)
			g.files = slices.Compact(g.files)
			circles, pairs, floors, upward := largest(g.circles()), len(g.pairs()), g.floors(), len(g.bestOrder().up(g))
			if circles != test.circles || pairs != test.pairs || floors != test.floors || upward != test.upward {
				t.Errorf("circle %d, pairs %d, floors %d, up %d; want %d, %d, %d, %d", circles, pairs, floors, upward, test.circles, test.pairs, test.floors, test.upward)
			}
		})
	}
}

// TestOrder: an order names every file once, and edges within a layer do not run up.
func TestOrder(t *testing.T) {
	g := &graph{pkg: "p", files: []string{"a", "b", "c"}, uses: map[edge]map[string]int{}}
	g.add(edge{"a", "b"}, "N")
	g.add(edge{"b", "c"}, "N")
	tests := []struct {
		name, order, err string
		up               int
	}{
		{"right", "c # the lowest\n\nb\na\n", "", 0},
		{"upside down", "a\nb\nc", "", 2},
		{"one layer", "a b c", "", 0},
		{"missing", "a\nb", "the order names c 0 times: name it once", 0},
		{"twice", "a\nb a\nc", "the order names a 2 times: name it once", 0},
		{"unknown", "a b c d", "p has no file d: take it out of the order", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			order := parseLayers(test.order)
			message := ""
			if err := order.check(g); err != nil {
				message = err.Error()
			}
			if message != test.err {
				t.Fatalf("error %q, want %q", message, test.err)
			}
			if up := len(order.up(g)); test.err == "" && up != test.up {
				t.Errorf("%d edges up, want %d", up, test.up)
			}
		})
	}
}
