package containers

import "testing"

// SetFirstItem has the counts of items of rings that are made during the test start at n.
func SetFirstItem(t *testing.T, n uint64) {
	firstItem = n
	t.Cleanup(func() { firstItem = 0 })
}
