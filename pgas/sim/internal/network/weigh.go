package network

// Weights: bytes of a heap that stand for more bytes.

import "fmt"

// weight is a range of offsets, each byte of which counts as many.
type weight struct {
	lo, hi uint64
	count  int
}

// weights are ranges that do not overlap.
type weights []weight

// add makes each byte of the offsets from lo to hi, hi excluded, of heaps of a size count as n bytes.
func (all *weights) add(lo, hi uint64, n int, size uint64) error {
	w := weight{lo, hi, n}
	switch {
	case n < 1:
		return fmt.Errorf("a byte cannot count as %d: it counts as 1 or more", n)
	case lo >= hi || hi > size:
		return fmt.Errorf("the offsets from %d to %d are not a range of a heap of %d bytes", lo, hi, size)
	}
	for _, old := range *all {
		if old == w {
			return nil
		}
		if old.lo < hi && lo < old.hi {
			return fmt.Errorf("the offsets from %d to %d are to count %d times, and those from %d to %d count %d times: weigh each byte once", lo, hi, n, old.lo, old.hi, old.count)
		}
	}
	*all = append(*all, w)
	return nil
}

// weighed returns how many bytes the n bytes from heap offset off count as.
func (all weights) weighed(off uint64, n int) int {
	if len(all) == 0 {
		return n
	}
	total, end := n, off+uint64(n)
	for _, w := range all {
		if lo, hi := max(off, w.lo), min(end, w.hi); lo < hi {
			total += int(hi-lo) * (w.count - 1)
		}
	}
	return total
}
