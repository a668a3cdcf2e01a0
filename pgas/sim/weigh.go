package sim

// Weights: bytes of a heap that stand for more bytes. A program at the size of a paper moves more memory than thousands
// of simulated PEs have. Its skeleton makes the same operations on a few bytes for each page, and these bytes count as
// the page on wires and in copies.

import (
	"context"
	"fmt"
)

// weight is a range of offsets, each byte of which counts as many.
type weight struct {
	lo, hi uint64
	count  int
}

// Weigh makes each byte of the heap offsets from lo to hi, hi excluded, count as n bytes in the times of puts and gets
// of every PE: on the wires, at the NICs and in copies on one host. Atomics cost what they cost. It lasts until the end
// of the run. Every PE may make the same call, which has no effect again. Without costs (with an adversary, in Explore)
// it has no effect.
//
// Weigh returns an error if ctx is not that of a simulated PE, if n is less than 1, if the range is empty or not in the
// heap, and if a byte of it already counts differently.
func Weigh(ctx context.Context, lo, hi uint64, n int) error {
	p, _ := ctx.Value(peKey{}).(*pe)
	w := weight{lo, hi, n}
	switch {
	case p == nil:
		return fmt.Errorf("sim.Weigh: the context is not that of a simulated PE: pass the one that the body was called with")
	case n < 1:
		return fmt.Errorf("sim.Weigh: a byte cannot count as %d: it counts as 1 or more", n)
	case lo >= hi || hi > uint64(len(p.heap)):
		return fmt.Errorf("sim.Weigh: the offsets from %d to %d are not a range of a heap of %d bytes", lo, hi, len(p.heap))
	}
	for _, old := range p.s.weights {
		if old == w {
			return nil
		}
		if old.lo < hi && lo < old.hi {
			return fmt.Errorf("sim.Weigh: the offsets from %d to %d are to count %d times, and those from %d to %d count %d times: weigh each byte once", lo, hi, n, old.lo, old.hi, old.count)
		}
	}
	p.s.weights = append(p.s.weights, w)
	return nil
}

// weighed returns how many bytes the n bytes from heap offset off count as.
func (s *sim) weighed(off uint64, n int) int {
	if len(s.weights) == 0 {
		return n
	}
	total, end := n, off+uint64(n)
	for _, w := range s.weights {
		if lo, hi := max(off, w.lo), min(end, w.hi); lo < hi {
			total += int(hi-lo) * (w.count - 1)
		}
	}
	return total
}

// payload returns how many bytes the data counts as that o carries to its target.
func (s *sim) payload(o *op) int { return s.weighed(o.off, len(o.data)) }

// answer returns how many bytes the answer to o counts as.
func (s *sim) answer(o *op) int {
	if o.kind != opGet {
		return 8
	}
	return s.weighed(o.off, o.size)
}
