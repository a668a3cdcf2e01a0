package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

var defaults = options{vertices: 500, degree: 4, damping: 0.85, tolerance: 1e-9, iterations: 200, top: 5}

// twin ranks in order, by a loop over the edges.
func twin(vertices int, edges []edge, o options) []float64 {
	degree := make([]float64, vertices)
	for _, e := range edges {
		degree[e.From]++
	}
	ranks := make([]float64, vertices)
	for v := range ranks {
		ranks[v] = 1 / float64(vertices)
	}
	for range o.iterations {
		next := make([]float64, vertices)
		lost, change := 0.0, 0.0
		for v, d := range degree {
			if d == 0 {
				lost += ranks[v]
			}
		}
		for _, e := range edges {
			next[e.To] += ranks[e.From] / degree[e.From]
		}
		for v := range next {
			next[v] = (1-o.damping+o.damping*lost)/float64(vertices) + o.damping*next[v]
			change += math.Abs(next[v] - ranks[v])
		}
		ranks = next
		if change < o.tolerance {
			break
		}
	}
	return ranks
}

// TestTwin: the ranks of generated graphs and of graphs of files are those of the twin, on PEs of every kind.
func TestTwin(t *testing.T) {
	file := defaults
	file.graph = filepath.Join("testdata", "links.txt")
	small := defaults
	small.vertices, small.degree = 3, 1 // fewer than PEs
	for name, o := range map[string]options{"generated": defaults, "file": file, "few vertices": small} {
		t.Run(name, func(t *testing.T) {
			pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
				edges, vertices, err := o.edges(ctx, w)
				if err != nil {
					return err
				}
				all, err := pgas.Gather(ctx, w.Team(), edges, 0)
				if err != nil {
					return err
				}
				g, err := build(ctx, w, vertices, edges)
				if err != nil {
					return err
				}
				if _, _, err := g.rank(ctx, o); err != nil {
					return err
				}
				best, err := g.top(ctx, vertices)
				if err != nil {
					return err
				}
				if w.PE() == 0 {
					want := twin(vertices, slices.Concat(all...), o)
					for _, r := range best {
						if math.Abs(r.Rank-want[r.Vertex]) > 1e-8 {
							return fmt.Errorf("vertex %d has rank %v, want %v", r.Vertex, r.Rank, want[r.Vertex])
						}
					}
					if len(best) != vertices {
						return fmt.Errorf("%d vertices are ranked, want %d", len(best), vertices)
					}
				}
				return g.free(ctx)
			})
		})
	}
}

// TestParts: PEs have the edges of a file in its order, each once, however many PEs there are.
func TestParts(t *testing.T) {
	path := filepath.Join("testdata", "links.txt")
	links := []edge{{0, 1}, {0, 3}, {1, 3}, {2, 3}, {2, 3}, {3, 0}, {3, 4}, {4, 3}, {5, 3}, {5, 2}, {6, 3}, {6, 7}}
	for _, npes := range []int{1, 2, 7, 20} {
		err := pgastest.Goroutines(t.Context(), npes, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			edges, vertices, err := readGraph(ctx, w, path)
			if err != nil {
				return err
			}
			all, err := pgas.AllGather(ctx, w.Team(), edges)
			if err != nil {
				return err
			}
			whole := slices.Concat(all...)
			if !slices.Equal(whole, links) || vertices != 8 {
				return fmt.Errorf("%d PEs have the edges %v of %d vertices", npes, whole, vertices)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRun: what is printed, and a file with a line that is no edge.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	o := defaults
	o.graph = filepath.Join("testdata", "links.txt")
	o.top = 1
	err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		return run(ctx, w, o, &out)
	})
	if err != nil || !strings.HasPrefix(out.String(), "8 vertices, 12 edges on 3 PEs of 1 host(s)\n") || !strings.Contains(out.String(), "\n           3  0.") {
		t.Errorf("%v\n%s", err, &out)
	}
	o.graph = filepath.Join(t.TempDir(), "bad.txt")
	os.WriteFile(o.graph, []byte("1 2\n2 3\nthree four\n4 5\n6\n"), 0o644)
	err = pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		return run(ctx, w, o, &out)
	})
	if err == nil || !strings.Contains(err.Error(), `line 3 is "three four": give the numbers of two vertices`) {
		t.Errorf("a bad line: %v", err)
	}
}
