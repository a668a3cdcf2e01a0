package main

// Where edges come from. The generator is that of Graph500: an edge falls into one of the four quarters of the
// adjacency matrix with fixed probabilities, again and again until one element is left. The labels of vertices are then
// mixed, so that those with many edges do not stand together. Each edge depends on its number only: PEs generate parts
// of the list.

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
)

// edge joins two vertices, in no order.
type edge struct{ U, V int32 }

// source is a graph as a list of edges, any part of which may be asked for.
type source struct {
	vertices, edges int
	fill            func(part []edge, first int)
}

// choose sets source to the graph that the flags ask for. It returns an error if a file cannot be read.
func (o *options) choose() error {
	if o.graph == "" {
		o.source = kronecker(o.scale, o.degree<<o.scale)
		return nil
	}
	f, err := os.Open(o.graph)
	if err != nil {
		return fmt.Errorf("-graph: %w", err)
	}
	defer f.Close()
	list, err := readEdges(f)
	if err != nil {
		return fmt.Errorf("-graph %s: %w", o.graph, err)
	}
	o.source = listed(list)
	return nil
}

// listed returns a graph of these edges.
func listed(list []edge) source {
	s := source{edges: len(list), fill: func(part []edge, first int) { copy(part, list[first:]) }}
	for _, e := range list {
		s.vertices = max(s.vertices, int(e.U)+1, int(e.V)+1)
	}
	return s
}

// readEdges reads two numbers a line. Empty lines, and lines that begin with #, are comments.
func readEdges(in io.Reader) (list []edge, err error) {
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		var e edge
		if _, err := fmt.Sscan(text, &e.U, &e.V); err != nil || e.U < 0 || e.V < 0 || int(max(e.U, e.V)) >= 1<<mostScale {
			return nil, fmt.Errorf("line %d is %q: give the numbers of two vertices, from 0 to %d", n, text, 1<<mostScale-1)
		}
		list = append(list, e)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no edges: give the numbers of two vertices on each line")
	}
	return list, nil
}

// The probabilities of the quarters: both vertices in the lower half, the first one, the second one; the rest is both
// in the upper half.
const (
	lower  = 0.57
	first  = 0.19
	second = 0.19
)

// seed is of all graphs that are generated.
const seed = 20201103

// kronecker returns a graph of 2^scale vertices.
func kronecker(scale, edges int) source {
	return source{vertices: 1 << scale, edges: edges, fill: func(part []edge, from int) {
		for i := range part {
			part[i] = kroneckerEdge(scale, uint64(from+i))
		}
	}}
}

// kroneckerEdge returns edge number i.
func kroneckerEdge(scale int, i uint64) (e edge) {
	var random rand.PCG
	random.Seed(seed, i)
	for range scale {
		x := float64(random.Uint64()>>11) / (1 << 53)
		var u, v int32
		switch {
		case x < lower:
		case x < lower+first:
			v = 1
		case x < lower+first+second:
			u = 1
		default:
			u, v = 1, 1
		}
		e.U, e.V = e.U<<1|u, e.V<<1|v
	}
	return edge{mix(e.U, scale), mix(e.V, scale)}
}

// mix permutes the numbers of scale bits: each step of it can be undone.
func mix(v int32, scale int) int32 {
	x, mask := uint64(v), uint64(1)<<scale-1
	for range 3 {
		x = (x*0x9e3779b97f4a7c15 + seed) & mask
		x ^= x >> max(1, scale/2)
	}
	return int32(x)
}
