package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// karate returns the graph of the test data.
func karate(t *testing.T) source {
	t.Helper()
	f, err := os.Open("testdata/karate.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := readEdges(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 78 {
		t.Fatalf("the karate club has 78 edges, not %d", len(list))
	}
	return listed(list)
}

// levels searches in order, by a queue.
func levels(s source, root int) []int32 {
	list := make([]edge, s.edges)
	s.fill(list, 0)
	next := make([][]int32, s.vertices)
	incident(list, 0, s.vertices, func(v, other int32) { next[v] = append(next[v], other) })
	level := make([]int32, s.vertices)
	level[root] = 1
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, u := range next[queue[0]] {
			if level[u] == 0 {
				level[u] = level[queue[0]] + 1
				queue = append(queue, int(u))
			}
		}
	}
	return level
}

// searchAll compares the levels of a search with those of a sequential one, on every PE, and validates.
func searchAll(s source, roots []int, goroutines int) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		g, err := build(ctx, w, s, goroutines)
		if err != nil {
			return err
		}
		for _, root := range roots {
			if _, err := g.search(ctx, root); err != nil {
				return err
			}
			if wrong, err := g.validate(ctx, root); err != nil || wrong != 0 {
				return fmt.Errorf("the tree from %d breaks %d rules: %w", root, wrong, err)
			}
			want, got := levels(s, root), g.level.View(0, s.vertices)
			for v := range want {
				if got[v] != want[v] {
					return fmt.Errorf("from %d: vertex %d has level %d, want %d", root, v, got[v], want[v])
				}
			}
			if err := g.region.Barrier(ctx); err != nil { // the next search writes the levels
				return err
			}
		}
		return g.region.Close(ctx)
	}
}

// TestKarate searches a small real graph, one of whose vertices has no edges, on every kind of PE. The simulator's PEs
// run one goroutine.
func TestKarate(t *testing.T) {
	pgastest.RunAll(t, 3, searchAll(karate(t), []int{1, 34, 0, 17}, 1))
}

// TestKronecker searches graphs of the generator, through the hardware and through the protocol.
func TestKronecker(t *testing.T) {
	body := searchAll(kronecker(10, 4<<10), []int{3, 1000}, 2)
	t.Run("shared", func(t *testing.T) { pgastest.RunProcesses(t, 2, body) })
	t.Run("soft", func(t *testing.T) { pgastest.RunProcesses(t, 2, body, dsm.EnvMode+"=soft") })
	t.Run("goroutines", func(t *testing.T) { pgastest.RunGoroutines(t, 3, body) })
}

// TestValidate plants mistakes in a tree, each of which breaks a rule.
func TestValidate(t *testing.T) {
	s := karate(t)
	plants := map[string]func(g *graph){
		"none":                   func(*graph) {},
		"level too high":         func(g *graph) { g.level.Set(34, g.level.At(34)+1) },
		"not reached":            func(g *graph) { g.level.Set(12, 0) },
		"reached without edges":  func(g *graph) { g.level.Set(0, 2) },
		"parent is no neighbour": func(g *graph) { g.parent.Set(12, 2) },
		"parent is no vertex":    func(g *graph) { g.parent.Set(12, -1) },
		"parent of equal level":  func(g *graph) { g.parent.Set(3, 2) },
		"root has a parent":      func(g *graph) { g.parent.Set(1, 2) },
		"two roots":              func(g *graph) { g.level.Set(2, 1) },
	}
	for name, plant := range plants {
		pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
			g, err := build(ctx, w, s, 1)
			if err != nil {
				return err
			}
			if _, err := g.search(ctx, 1); err != nil {
				return err
			}
			plant(g)
			wrong, err := g.validate(ctx, 1)
			if (wrong > 0) != (name != "none") {
				t.Errorf("%s: %d violations", name, wrong)
			}
			return err
		})
	}
}

// TestMix: labels are a permutation, at every scale.
func TestMix(t *testing.T) {
	for scale := 1; scale <= 12; scale++ {
		seen := make([]bool, 1<<scale)
		for v := range seen {
			at := mix(int32(v), scale)
			if at < 0 || int(at) >= len(seen) || seen[at] {
				t.Fatalf("scale %d: %d has the label %d, which is out of range or another's", scale, v, at)
			}
			seen[at] = true
		}
	}
}

// TestGenerator: parts of the list are those of the whole, and the quarters of the matrix have their probabilities:
// before labels are mixed, 76 of 100 edges begin in the lower half.
func TestGenerator(t *testing.T) {
	s := kronecker(8, 4000)
	whole, part := make([]edge, 4000), make([]edge, 1000)
	s.fill(whole, 0)
	s.fill(part, 1500)
	label := make([]int, 256) // of each mixed label, the one before
	for v := range 256 {
		label[mix(int32(v), 8)] = v
	}
	lowerHalf := 0
	for i, e := range whole {
		if i >= 1500 && i < 2500 && part[i-1500] != e {
			t.Fatalf("edge %d is %v in a part, %v in the whole", i, part[i-1500], e)
		}
		if label[e.U] < 128 {
			lowerHalf++
		}
	}
	if lowerHalf < 2900 || lowerHalf > 3180 { // 3040, and five standard deviations
		t.Errorf("%d of 4000 edges begin in the lower half, about 3040 should", lowerHalf)
	}
}

func TestReadEdges(t *testing.T) {
	for text, want := range map[string]string{
		"0 1\n# c\n\n 2  1 \n": "",
		"":                     "no edges",
		"# only\n":             "no edges",
		"0 1\n2\n":             `line 2 is "2": give the numbers of two vertices`,
		"a b\n":                `line 1 is "a b"`,
		"-1 2\n":               `line 1 is "-1 2"`,
		"0 67108864\n":         "from 0 to 67108863",
	} {
		_, err := readEdges(strings.NewReader(text))
		if got := fmt.Sprint(err); (want == "") != (err == nil) || err != nil && !strings.Contains(got, want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}
