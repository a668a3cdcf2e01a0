package launch

import "testing"

func TestCoresOf(t *testing.T) {
	two := []int{0, 1}
	for _, c := range []struct {
		name string
		all  []hostCPUs
		want []int
	}{
		{"one host", []hostCPUs{{16, "m", two}}, []int{2}},
		{"two machines", []hostCPUs{{4, "m", two}, {4, "n", two}}, []int{2, 2}},
		{"two hosts on one machine", []hostCPUs{{1, "m", two}, {1, "m", two}}, []int{1, 1}},
		{"four hosts on two CPUs", []hostCPUs{{1, "m", two}, {1, "m", two}, {1, "m", two}, {1, "m", two}}, []int{0, 0, 0, 0}},
		{"CPUs of their own", []hostCPUs{{1, "m", []int{0}}, {1, "m", []int{1}}}, []int{1, 1}},
		{"uneven", []hostCPUs{{3, "m", two}, {1, "m", two}}, []int{1, 0}},
		{"unknown machines", []hostCPUs{{2, "", two}, {2, "", two}}, []int{2, 2}},
	} {
		for i, h := range c.all {
			if got := coresOf(h, c.all); got != c.want[i] {
				t.Errorf("%s: host %d has %d CPUs, want %d", c.name, i, got, c.want[i])
			}
		}
	}
}
