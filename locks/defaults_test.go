package locks

import (
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas/topo"
)

// TestDefaultThresholds: T_L is 50 for hosts and what is around them, and 10 for parts of hosts, also where
// there is one host only, which is no level of its own then.
func TestDefaultThresholds(t *testing.T) {
	for _, c := range []struct {
		topology string
		hosts    []int // the PEs of each host
		levels   []string
		tl       []int
	}{
		{"host", []int{4, 4}, []string{"machine", "host"}, []int{50, 50}},
		{"numa:2,host,rack:2", []int{4, 4, 4, 4}, []string{"machine", "rack", "host", "numa"}, []int{50, 50, 50, 10}},
		{"numa:4", []int{8}, []string{"machine", "numa"}, []int{50, 10}},
		{"numa:2,socket:2", []int{8}, []string{"machine", "socket", "numa"}, []int{50, 10, 10}},
		{"host", []int{4}, []string{"machine"}, []int{50}},
		{"host", []int{1, 1, 1}, []string{"machine"}, []int{50}},
		{"numa:2,host:2", []int{8}, []string{"machine", "host", "numa"}, []int{50, 50, 10}},
	} {
		spec, err := topo.Parse(c.topology)
		if err != nil {
			t.Fatal(err)
		}
		full, err := topo.Build(spec, c.hosts, nil)
		if err != nil {
			t.Fatal(err)
		}
		levels, err := levelsOf(full, nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range levels {
			names = append(names, l.Name())
		}
		tl, err := thresholds(full, levels, nil)
		if err != nil || !slices.Equal(names, c.levels) || !slices.Equal(tl, c.tl) {
			t.Errorf("%s of %v: levels %v with T_L %v, %v; want %v with %v", c.topology, c.hosts, names, tl, err, c.levels, c.tl)
		}
	}
}
