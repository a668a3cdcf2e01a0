package main

// An order of layers: read from a file, or the one found here that the fewest edges run up against.

import (
	"fmt"
	"slices"
	"strings"
)

// layers are sets of files, the lowest layer first.
type layers [][]string

// parseLayers reads an order: a layer a line, files separated by blanks, comments after a #.
func parseLayers(text string) (order layers) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if files := strings.Fields(line); len(files) > 0 {
			order = append(order, files)
		}
	}
	return order
}

// check returns an error unless the order names each file of g once, and no other.
func (order layers) check(g *graph) error {
	times := map[string]int{}
	for _, layer := range order {
		for _, file := range layer {
			times[file]++
			if !slices.Contains(g.files, file) {
				return fmt.Errorf("%s has no file %s: take it out of the order", g.pkg, file)
			}
		}
	}
	for _, file := range g.files {
		if times[file] != 1 {
			return fmt.Errorf("the order names %s %d times: name it once", file, times[file])
		}
	}
	return nil
}

// up returns the edges from a file to a file of a higher layer.
func (order layers) up(g *graph) (up []edge) {
	height := map[string]int{}
	for i, layer := range order {
		for _, file := range layer {
			height[file] = i
		}
	}
	for _, e := range g.edges() {
		if height[e.to] > height[e.from] {
			up = append(up, e)
		}
	}
	return up
}

// bestOrder returns an order of one file a layer against which few edges run up: no file has a better place among the
// others. It depends on nothing but the graph.
func (g *graph) bestOrder() (order layers) {
	var files []string
	for _, component := range g.components() {
		files = append(files, component...)
	}
	for improved := true; improved; {
		improved = false
		for _, file := range slices.Clone(files) {
			old := slices.Index(files, file)
			if place := g.bestPlace(files, old); place != old {
				files = slices.Insert(slices.Delete(files, old, old+1), place, file)
				improved = true
			}
		}
	}
	for _, file := range files {
		order = append(order, []string{file})
	}
	return order
}

// bestPlace returns the index at which the file at index i has the fewest edges up to others and from others: i unless
// another is better.
func (g *graph) bestPlace(files []string, i int) int {
	best, place := 0, i
	for _, step := range []int{-1, 1} {
		change := 0
		for j := i + step; j >= 0 && j < len(files); j += step {
			lower, upper := files[i], files[j] // once they have changed places
			if step == 1 {
				lower, upper = upper, lower
			}
			change += g.edge(lower, upper) - g.edge(upper, lower)
			if change < best {
				best, place = change, j
			}
		}
	}
	return place
}

// edge returns 1 if there is an edge, else 0.
func (g *graph) edge(from, to string) int {
	if g.uses[edge{from, to}] == nil {
		return 0
	}
	return 1
}
