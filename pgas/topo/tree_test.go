package topo

import (
	"slices"
	"strings"
	"testing"
)

// build makes the tree of a list and hosts, of nothing found.
func build(t *testing.T, list string, hosts ...int) *Tree {
	t.Helper()
	spec, err := Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Build(spec, hosts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// checkTree holds every answer of a tree against Element, and the levels against each other.
func checkTree(t *testing.T, tree *Tree) {
	t.Helper()
	npes := tree.NPEs()
	for i := range tree.Depth() {
		l := tree.LevelAt(i)
		next := 0
		for pe := range npes {
			e := l.Element(pe)
			if e > next {
				t.Fatalf("%s: element %d comes before %d\n%v", l.Name(), e, next, tree)
			}
			if e == next {
				next++
			}
			members := l.Members(e)
			if !slices.Contains(members, pe) || !slices.IsSorted(members) || l.Representative(e) != members[0] {
				t.Fatalf("%s: PE %d is in element %d, which is %v and represented by %d\n%v", l.Name(), pe, e, members, l.Representative(e), tree)
			}
			for other := range npes {
				same := l.Element(other) == e
				if slices.Contains(members, other) != same || l.Share(pe, other) != same {
					t.Fatalf("%s: PEs %d and %d share an element: %t\n%v", l.Name(), pe, other, same, tree)
				}
				if same && i > 0 && tree.LevelAt(i-1).Element(other) != tree.LevelAt(i-1).Element(pe) {
					t.Fatalf("%s does not nest in %s: PEs %d and %d\n%v", l.Name(), tree.LevelAt(i-1).Name(), pe, other, tree)
				}
				if same != (tree.Common(pe, other) >= i) {
					t.Fatalf("PEs %d and %d have level %d in common\n%v", pe, other, tree.Common(pe, other), tree)
				}
			}
		}
		if l.Elements() != next {
			t.Fatalf("%s has %d elements, not %d\n%v", l.Name(), next, l.Elements(), tree)
		}
	}
}

func TestLevel(t *testing.T) {
	tree := build(t, "numa:2,host,rack:2", 4, 4, 4)
	checkTree(t, tree)
	for i, name := range tree.Names() {
		if l, err := tree.Level(name); err != nil || l.Name() != name || tree.LevelAt(i).Name() != name {
			t.Errorf("level %s: %v, %v", name, l, err)
		}
	}
	want := `there is no level "rakc": this job has machine, rack, host, numa (PGAS_TOPO says which)`
	if _, err := tree.Level("rakc"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestSub(t *testing.T) {
	tree := build(t, "numa:2,host,rack:2", 4, 4, 4)
	sub := tree.Sub([]int{11, 0, 5, 1, 10})
	checkTree(t, sub)
	for i := range sub.Depth() {
		for a, x := range []int{11, 0, 5, 1, 10} {
			for b, y := range []int{11, 0, 5, 1, 10} {
				if sub.LevelAt(i).Share(a, b) != tree.LevelAt(i).Share(x, y) {
					t.Errorf("%s: PEs %d and %d\n%v\n%v", sub.LevelAt(i).Name(), a, b, sub, tree)
				}
			}
		}
	}
}

func TestTrim(t *testing.T) {
	tests := []struct {
		list  string
		hosts []int
		want  string
	}{
		{"numa:2,host,rack:2", []int{4, 4, 4, 4}, "machine rack host numa"},
		{"numa:4,host,rack:2", []int{4, 4}, "machine host"},
		{"core:1,numa:2,host", []int{2, 2}, "machine host"},
		{"host", []int{1, 1}, "machine"},
		{"host", []int{1}, "machine"},
		{"host", []int{8}, "machine"},
	}
	for _, tt := range tests {
		tree := build(t, tt.list, tt.hosts...)
		before := tree.String()
		trimmed := tree.Trim()
		checkTree(t, trimmed)
		if got := strings.Join(trimmed.Names(), " "); got != tt.want {
			t.Errorf("%s on %v: %s, want %s", tt.list, tt.hosts, got, tt.want)
		}
		if trimmed.Trim().String() != trimmed.String() || tree.String() != before {
			t.Errorf("%s on %v: trimming twice is more, or changes the tree", tt.list, tt.hosts)
		}
	}
}

// A table of many PEs stays within the width of a window.
func TestString(t *testing.T) {
	var even []int
	for pe := 0; pe < 4096; pe += 2 {
		even = append(even, pe)
	}
	tree := build(t, "numa:4,host:8,rack:16", 4096)
	text := tree.String() + tree.Sub(even).String()
	for line := range strings.Lines(text) {
		if len(line) > 130 {
			t.Errorf("%d bytes: %s", len(line), line)
		}
	}
	want := "rack            8  0-511 | 512-1023 | 1024-1535 | 1536-2047 | 2048-2559 | 2560-3071 | 3072-3583 | … 1 more\n"
	if !strings.Contains(text, want) {
		t.Errorf("%s\nlacks\n%s", text, want)
	}
	if got := ranges(even); !strings.HasSuffix(got, ",22,24,26,28,30,…") {
		t.Errorf("the even numbers are written %s", got)
	}
}
