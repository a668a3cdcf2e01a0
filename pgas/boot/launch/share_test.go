package launch

import "testing"

func TestShareOf(t *testing.T) {
	two := []int{0, 1}
	for _, c := range []struct {
		name string
		all  []tenant
		want []int
	}{
		{"one host", []tenant{{16, "m", two}}, []int{2}},
		{"two machines", []tenant{{4, "m", two}, {4, "n", two}}, []int{2, 2}},
		{"two hosts on one machine", []tenant{{1, "m", two}, {1, "m", two}}, []int{1, 1}},
		{"four hosts on two CPUs", []tenant{{1, "m", two}, {1, "m", two}, {1, "m", two}, {1, "m", two}}, []int{0, 0, 0, 0}},
		{"CPUs of their own", []tenant{{1, "m", []int{0}}, {1, "m", []int{1}}}, []int{1, 1}},
		{"uneven", []tenant{{3, "m", two}, {1, "m", two}}, []int{1, 0}},
		{"unknown machines", []tenant{{2, "", two}, {2, "", two}}, []int{2, 2}},
	} {
		for i, h := range c.all {
			if got := shareOf(h, c.all); got != c.want[i] {
				t.Errorf("%s: host %d has %d CPUs, want %d", c.name, i, got, c.want[i])
			}
		}
	}
}
