package topo

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"
)

func TestDivide(t *testing.T) {
	two := hardware{sockets: 2, nodes: 1, caches: 1, cores: 4, threads: 2, far: true} // cores 0-3 and 4-7, threads 8-15
	for _, c := range []struct {
		name string
		hw   hardware
		cpus []int
		n    int
		want string
	}{
		{"a socket each", two, nil, 2, "[[0 1 2 3 8 9 10 11] [4 5 6 7 12 13 14 15]]"},
		{"three on two sockets", two, nil, 3, "[[0 1 8 9] [2 3 10 11] [4 5 6 7 12 13 14 15]]"},
		{"two cores each", two, nil, 4, "[[0 1 8 9] [2 3 10 11] [4 5 12 13] [6 7 14 15]]"},
		{"a core each", two, nil, 8, "[[0 8] [1 9] [2 10] [3 11] [4 12] [5 13] [6 14] [7 15]]"},
		{"a thread each", two, nil, 16, "[[0] [8] [1] [9] [2] [10] [3] [11] [4] [12] [5] [13] [6] [14] [7] [15]]"},
		{"some cores only", two, []int{2, 3, 4, 10, 11, 12}, 3, "[[2 10] [3 11] [4 12]]"},
		{"uneven sockets", two, []int{0, 4, 5, 6}, 2, "[[0] [4 5 6]]"},
		{"eight nodes, two PEs", hardware{sockets: 2, nodes: 4, caches: 1, cores: 2, threads: 1}, nil, 2, "[[0 1 2 3 4 5 6 7] [8 9 10 11 12 13 14 15]]"},
		{"eight nodes, three PEs", hardware{sockets: 1, nodes: 8, caches: 1, cores: 2, threads: 1}, nil, 3, "[[0 1 2 3] [4 5 6 7 8 9] [10 11 12 13 14 15]]"},
		{"caches of a node", hardware{sockets: 1, nodes: 1, caches: 2, cores: 2, threads: 1}, nil, 2, "[[0 1] [2 3]]"},
	} {
		cpus := c.cpus
		if cpus == nil {
			cpus = c.hw.group(0, 1)
		}
		if got := fmt.Sprint(Divide(c.hw.sys(), cpus, c.n)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := Divide(fstest.MapFS{}, []int{2, 3, 6, 7}, 3); !reflect.DeepEqual(got, [][]int{{2}, {3}, {6, 7}}) {
		t.Errorf("without /sys: %v", got)
	}
}

// TestDivideEverything: on many machines, every PE gets CPUs, every CPU goes to one PE, and no PE spans two NUMA nodes
// if there is a PE for each, nor shares a core if there is a core for each.
func TestDivideEverything(t *testing.T) {
	for _, hw := range []hardware{
		{sockets: 1, nodes: 1, caches: 1, cores: 3, threads: 2, far: true},
		{sockets: 2, nodes: 2, caches: 2, cores: 2, threads: 2, far: true},
		{sockets: 2, nodes: 3, caches: 1, cores: 2, threads: 2},
		{sockets: 4, nodes: 1, caches: 1, cores: 2, threads: 1},
	} {
		sys, all := hw.sys(), hw.group(0, 1)
		for n := 1; n <= len(all); n++ {
			sets := Divide(sys, all, n)
			var seen []int
			for _, s := range sets {
				at := map[int]bool{}
				for _, cpu := range s {
					at[elementsOf(sys, cpu)[1][0]] = true
				}
				seen = append(seen, s...)
				if n >= hw.sockets*hw.nodes && len(at) != 1 {
					t.Errorf("%+v, %d PEs: %v spans %d NUMA nodes", hw, n, s, len(at))
				}
			}
			slices.Sort(seen)
			if len(sets) != n || !slices.Equal(seen, all) {
				t.Fatalf("%+v: %d PEs have %v", hw, n, sets)
			}
			if n <= hw.cpus()/hw.threads {
				for i, s := range sets {
					for _, o := range sets[:i] {
						if sharesCore(sys, s, o) {
							t.Errorf("%+v, %d PEs: %v and %v share a core", hw, n, s, o)
						}
					}
				}
			}
		}
	}
}

func sharesCore(sys fstest.MapFS, a, b []int) bool {
	for _, cpu := range a {
		if core := elementsOf(sys, cpu)[3]; slices.ContainsFunc(b, func(c int) bool { return slices.Contains(core, c) }) {
			return true
		}
	}
	return false
}
