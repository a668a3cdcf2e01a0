package main

// The graph of the files of one package: an edge from each file to every other file that it uses names of.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An edge says that file from uses names that file to declares.
type edge struct{ from, to string }

func (e edge) String() string { return e.from + " -> " + e.to }

// graph is one package. A name of uses is Name for a package-level name, Type.Name for a method or a field.
type graph struct {
	pkg   string   // import path, less the module's
	files []string // sorted
	uses  map[edge]map[string]int
}

// add counts one use of name.
func (g *graph) add(e edge, name string) {
	if g.uses[e] == nil {
		g.uses[e] = map[string]int{}
	}
	g.uses[e][name]++
}

// edges returns all edges, sorted.
func (g *graph) edges() []edge { return slices.SortedFunc(maps.Keys(g.uses), compareEdges) }

func compareEdges(a, b edge) int {
	return cmp.Or(strings.Compare(a.from, b.from), strings.Compare(a.to, b.to))
}

// names returns the names that e.from uses of e.to, the most used first, with the number of uses if it is not 1.
func (g *graph) names(e edge) string {
	uses := g.uses[e]
	names := slices.SortedFunc(maps.Keys(uses), func(a, b string) int {
		return cmp.Or(uses[b]-uses[a], strings.Compare(a, b))
	})
	for i, name := range names {
		if uses[name] > 1 {
			names[i] = fmt.Sprintf("%s×%d", name, uses[name])
		}
	}
	return strings.Join(names, " ")
}

// pairs returns the edges that have an edge back, one of each two.
func (g *graph) pairs() (pairs []edge) {
	for _, e := range g.edges() {
		if e.from < e.to && g.uses[edge{e.to, e.from}] != nil {
			pairs = append(pairs, e)
		}
	}
	return pairs
}

// components returns the strongly connected components (Tarjan): sets of files that all depend on each other, each
// file in one of them. A component comes after those that it depends on.
func (g *graph) components() (all [][]string) {
	targets := map[string][]string{}
	for _, e := range g.edges() {
		targets[e.from] = append(targets[e.from], e.to)
	}
	var stack []string
	index, low := map[string]int{}, map[string]int{}
	onStack := map[string]bool{}
	var visit func(file string)
	visit = func(file string) {
		index[file] = len(index) + 1
		low[file] = index[file]
		stack, onStack[file] = append(stack, file), true
		for _, to := range targets[file] {
			if index[to] == 0 {
				visit(to)
				low[file] = min(low[file], low[to])
			} else if onStack[to] {
				low[file] = min(low[file], index[to])
			}
		}
		if low[file] < index[file] {
			return
		}
		root := slices.Index(stack, file)
		component := slices.Sorted(slices.Values(stack[root:]))
		stack = stack[:root]
		for _, member := range component {
			onStack[member] = false
		}
		all = append(all, component)
	}
	for _, file := range g.files {
		if index[file] == 0 {
			visit(file)
		}
	}
	return all
}

// circles returns the components of two or more files, the largest first.
func (g *graph) circles() [][]string {
	circles := slices.DeleteFunc(g.components(), func(files []string) bool { return len(files) < 2 })
	slices.SortStableFunc(circles, func(a, b []string) int { return len(b) - len(a) })
	return circles
}

// largest returns the size of the largest circle; 1 if there is none, as each file is a component then.
func largest(circles [][]string) int {
	if len(circles) == 0 {
		return 1
	}
	return len(circles[0])
}

// floors returns the length of the longest chain of components of which each depends on the next.
func (g *graph) floors() (highest int) {
	floor := map[string]int{} // by file; those of one component have the same
	for _, files := range g.components() {
		f := 1
		for e := range g.uses {
			if slices.Contains(files, e.from) && !slices.Contains(files, e.to) {
				f = max(f, floor[e.to]+1)
			}
		}
		for _, file := range files {
			floor[file] = f
		}
		highest = max(highest, f)
	}
	return highest
}
