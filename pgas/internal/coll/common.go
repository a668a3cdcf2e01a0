package coll

// What the Worlds of one process may have in common. With thousands of PEs in a simulator, tables of all
// PEs in each of them would be most of its memory.

// Common is what PEs that are each alone on their hosts have in common. It does not change.
type Common struct {
	all   []int   // 0, 1, 2, …
	alone [][]int // {0}, {1}, {2}, …
}

// NewCommon is that of a job of npes PEs.
func NewCommon(npes int) *Common {
	c := &Common{all: upTo(npes), alone: make([][]int, npes)}
	for pe := range c.all {
		c.alone[pe] = c.all[pe : pe+1 : pe+1]
	}
	return c
}

// upTo is 0 … n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
