package containers_test

import (
	"math/bits"
	"testing"

	"github.com/gopgas/gopgas/containers"
)

// TestArrayHugeBlocks: arrays that no test has the memory for, at the edges of their members' blocks, where the
// estimate of the member by floating-point numbers is too high or too low.
func TestArrayHugeBlocks(t *testing.T) {
	for _, p := range []int{2, 3, 7, 1000, 99_991, 1 << 20, 3_000_017} {
		for _, each := range []int{3, 1<<20 + 1, 1<<32 - 1} {
			n := p*each - 2
			locate := containers.LocateBlock(n, p)
			for pe := 1; pe < p; pe += max(1, p/5000) {
				start := startOf(pe, n, p)
				if got, at := locate(start); got != pe || at != 0 {
					t.Fatalf("element %d of %d over %d members is at place %d of PE %d, not the first of PE %d", start, n, p, at, got, pe)
				}
				if got, at := locate(start - 1); got != pe-1 || at != start-1-startOf(pe-1, n, p) {
					t.Fatalf("element %d of %d over %d members is at place %d of PE %d, not the last of PE %d", start-1, n, p, at, got, pe-1)
				}
			}
		}
	}
}

// startOf returns the first of n elements that member pe of p has.
func startOf(pe, n, p int) int {
	high, low := bits.Mul64(uint64(pe), uint64(n))
	start, _ := bits.Div64(high, low, uint64(p))
	return int(start)
}
