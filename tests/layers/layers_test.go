package main

import (
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// limits are how far each package may be from layers without circles. A package of more than 10 files stands here, even
// if it has no circle. A smaller one stands here only if it has a circle, and a new one should have none.
// The numbers only fall: a change that lowers one lowers it here, too.
var limits = map[string]limit{
	"arena":                            {circle: 2, pairs: 1},
	"ckpt":                             {circle: 1, pairs: 0},
	"cmd/pgasbench":                    {circle: 1, pairs: 0},
	"cmd/pgasbench/compare":            {circle: 1, pairs: 0},
	"cmd/pgasbench/dsmbench":           {circle: 2, pairs: 1},
	"cmd/pgasbench/floor":              {circle: 5, pairs: 3},
	"cmd/pgasbench/lockbench":          {circle: 2, pairs: 2},
	"cmd/pgasbench/startbench":         {circle: 2, pairs: 2},
	"cmd/pgasgen":                      {circle: 9, pairs: 12},
	"cmd/pgasrun":                      {circle: 2, pairs: 1},
	"cmd/pgasrun/doctor":               {circle: 6, pairs: 5},
	"cmd/pgasrun/ui":                   {circle: 2, pairs: 2},
	"cmd/pgasvet/internal/calls":       {circle: 4, pairs: 1},
	"cmd/pgasvet/rules/signalcount":    {circle: 2, pairs: 1},
	"containers":                       {circle: 4, pairs: 10},
	"dsm":                              {circle: 1, pairs: 0},
	"dsm/internal/protocol":            {circle: 1, pairs: 0},
	"locks":                            {circle: 3, pairs: 14},
	"locks/lockstest":                  {circle: 2, pairs: 1},
	"notify":                           {circle: 2, pairs: 1},
	"pgas":                             {circle: 26, pairs: 23},
	"pgas/boot":                        {circle: 9, pairs: 5},
	"pgas/boot/join":                   {circle: 8, pairs: 6},
	"pgas/boot/launch":                 {circle: 9, pairs: 10},
	"pgas/boot/launch/internal/agent":  {circle: 5, pairs: 4},
	"pgas/boot/launch/internal/frame":  {circle: 2, pairs: 1},
	"pgas/boot/launch/internal/output": {circle: 2, pairs: 1},
	"pgas/boot/launch/internal/spawn":  {circle: 2, pairs: 1},
	"pgas/boot/record":                 {circle: 2, pairs: 2},
	"pgas/internal/coll":               {circle: 1, pairs: 0},
	"pgas/internal/node":               {circle: 3, pairs: 1},
	"pgas/internal/racecheck":          {circle: 1, pairs: 0},
	"pgas/internal/racecheck/carriage": {circle: 4, pairs: 3},
	"pgas/pgastest":                    {circle: 6, pairs: 6},
	"pgas/pgastest/netns":              {circle: 2, pairs: 1},
	"pgas/sim":                         {circle: 3, pairs: 2},
	"pgas/sim/internal/engine":         {circle: 5, pairs: 4},
	"pgas/sim/internal/explorer":       {circle: 3, pairs: 2},
	"pgas/sim/internal/network":        {circle: 1, pairs: 0},
	"pgas/trace":                       {circle: 3, pairs: 2},
	"pgas/transport":                   {circle: 1, pairs: 0},
	"pgas/transport/transporttest":     {circle: 3, pairs: 2},
	"pgas/transport/ucp":               {circle: 2, pairs: 1},
	"samples/bale":                     {circle: 6, pairs: 5},
	"samples/bfs":                      {circle: 6, pairs: 1},
	"samples/cholesky":                 {circle: 2, pairs: 1},
	"samples/hashtable":                {circle: 1, pairs: 0},
	"samples/kmer":                     {circle: 3, pairs: 2},
	"samples/messages":                 {circle: 2, pairs: 1},
	"samples/npb/benchmark":            {circle: 2, pairs: 1},
	"samples/p2p":                      {circle: 3, pairs: 1},
	"samples/pagerank":                 {circle: 7, pairs: 2},
	"samples/stencil":                  {circle: 2, pairs: 1},
	"samples/transpose":                {circle: 2, pairs: 1},
	"samples/tree":                     {circle: 3, pairs: 1},
	"samples/versions":                 {circle: 5, pairs: 4},
	"samples/wordcount":                {circle: 3, pairs: 1},
	"tests/ci":                         {circle: 1},
	"tests/races/program":              {circle: 1},
	"tests/sloc":                       {circle: 2, pairs: 1},
	"ucx":                              {circle: 7, pairs: 9},
	"ucx/engine":                       {circle: 4, pairs: 3},
}

// A limit is the size of the largest circle of a package, and how many pairs of its files use each other.
type limit struct{ circle, pairs int }

// listed is from how many files on a package must stand in limits.
const listed = 11

// internals are the packages below pgas/internal, the lowest layer first: one may import those before it.
var internals = []string{"checked", "racecheck", "strands", "symheap", "locklocal", "vector", "bounce", "profiles", "node", "racecheck/carriage", "coll", "private"}

const internal = "pgas/internal/"

// TestLayers: the files of every package form no larger circles than limits states.
func TestLayers(t *testing.T) {
	graphs, err := load("../..", "work")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range checkLimits(graphs, limits) {
		t.Error(problem)
	}
}

// TestLayersFindsFaults: each way in which the table and the packages can disagree is reported.
func TestLayersFindsFaults(t *testing.T) {
	tests := []struct {
		name, edges string // as in TestShapes
		files       int    // beside those of the edges
		limits      map[string]limit
		want        string
	}{
		{"as stated", "ab ba", 0, map[string]limit{"p": {2, 1}}, ""},
		{"small without a circle", "ab", 8, nil, ""},
		{"large and listed", "ab", 9, map[string]limit{"p": {1, 0}}, ""},
		{"large", "ab", 9, nil, `p has 11 files and is not in the table of layers_test.go: add "p": {circle: 1, pairs: 0}`},
		{"large circle", "ab ba", 9, nil, `p has 11 files and is not in the table of layers_test.go: add "p": {circle: 2, pairs: 1}`},
		{"new circle", "ab bc ca", 0, nil, "p has 3 files in the largest circle, more than the 1 of the table"},
		{"new pair", "ab ba", 0, map[string]limit{"p": {2, 0}}, "p has 1 pairs of files that use each other, more than the 0 of the table"},
		{"larger circle", "ab bc ca", 0, map[string]limit{"p": {2, 0}}, "p has 3 files in the largest circle, more than the 2 of the table"},
		{"smaller circle", "ab ba", 0, map[string]limit{"p": {3, 1}}, "p has 2 files in the largest circle, fewer than the 3 of the table: lower the number in layers_test.go"},
		{"gone", "ab", 0, map[string]limit{"q": {2, 1}}, "the table of layers_test.go lists q, which does not exist: take it out"},
		{"needless", "ab", 0, map[string]limit{"p": {1, 0}}, "p has 2 files and no circle: take it out of the table of layers_test.go"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := graphFrom(test.edges)
			for i := range test.files {
				g.files = append(g.files, string(rune('A'+i)))
			}
			found := strings.Join(checkLimits([]*graph{g}, test.limits), "\n")
			if !strings.HasPrefix(found, test.want) || test.want == "" && found != "" {
				t.Errorf("found %q, want %q", found, test.want)
			}
		})
	}
}

// checkLimits returns a complaint for each graph that is not as the table of limits says, and for each row of the table
// without a graph.
func checkLimits(graphs []*graph, table map[string]limit) (problems []string) {
	known := map[string]bool{}
	for _, g := range graphs {
		known[g.pkg] = true
		problems = append(problems, g.checkLimit(table)...)
	}
	for _, pkg := range slices.Sorted(maps.Keys(table)) {
		if !known[pkg] {
			problems = append(problems, fmt.Sprintf("the table of layers_test.go lists %s, which does not exist: take it out", pkg))
		}
	}
	return problems
}

// checkLimit returns the complaints about one package.
func (g *graph) checkLimit(table map[string]limit) (problems []string) {
	is := limit{largest(g.circles()), len(g.pairs())}
	may, stated := table[g.pkg]
	switch {
	case !stated && len(g.files) >= listed:
		return []string{fmt.Sprintf("%s has %d files and is not in the table of layers_test.go: add %q: {circle: %d, pairs: %d}, with fewer if you can",
			g.pkg, len(g.files), g.pkg, is.circle, is.pairs)}
	case !stated:
		may.circle = 1
	case len(g.files) < listed && is.circle == 1:
		return []string{fmt.Sprintf("%s has %d files and no circle: take it out of the table of layers_test.go", g.pkg, len(g.files))}
	}
	compare := func(what string, n, limit int) {
		if n > limit {
			problems = append(problems, fmt.Sprintf("%s has %d %s, more than the %d of the table: `go run ./tests/layers -pairs -up ./%[1]s` shows which names tie them", g.pkg, n, what, limit))
		}
		if n < limit {
			problems = append(problems, fmt.Sprintf("%s has %d %s, fewer than the %d of the table: lower the number in layers_test.go", g.pkg, n, what, limit))
		}
	}
	compare("files in the largest circle", is.circle, may.circle)
	compare("pairs of files that use each other", is.pairs, may.pairs)
	return problems
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
			g := graphFrom(test.edges)
			circles, pairs, floors, upward := largest(g.circles()), len(g.pairs()), g.floors(), len(g.bestOrder().up(g))
			if circles != test.circles || pairs != test.pairs || floors != test.floors || upward != test.upward {
				t.Errorf("circle %d, pairs %d, floors %d, up %d; want %d, %d, %d, %d", circles, pairs, floors, upward, test.circles, test.pairs, test.floors, test.upward)
			}
		})
	}
}

// graphFrom returns the graph of a package p with these edges, written as in TestShapes.
func graphFrom(edges string) *graph {
	g := &graph{pkg: "p", uses: map[edge]map[string]int{}}
	for _, e := range strings.Fields(edges) {
		g.add(edge{e[:1], e[1:]}, "Name")
		g.files = append(g.files, e[:1], e[1:])
	}
	slices.Sort(g.files)
	g.files = slices.Compact(g.files)
	return g
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
