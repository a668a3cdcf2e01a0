package sim

// Weights: bytes of a heap that stand for more bytes. A program at the size of a paper moves more memory than thousands
// of simulated PEs have. Its skeleton makes the same operations on a few bytes for each page, and these bytes count as
// the page on wires and in copies.

import (
	"context"
	"errors"
	"fmt"
)

// Weigh makes each byte of the heap offsets from lo to hi, hi excluded, count as n bytes in the times of puts and gets
// of every PE: on the wires, at the NICs and in copies on one host. Atomics cost what they cost. It lasts until the end
// of the run. Every PE may make the same call, which has no effect again. Without costs (with an adversary, in Explore)
// it has no effect.
//
// Weigh returns an error if ctx is not that of a simulated PE, if n is less than 1, if the range is empty or not in the
// heap, and if a byte of it already counts differently.
func Weigh(ctx context.Context, lo, hi uint64, n int) error {
	p, _ := ctx.Value(peKey{}).(*pe)
	if p == nil {
		return errors.New("sim.Weigh: the context is not that of a simulated PE: pass the one that the body was called with")
	}
	if err := p.s.net.Weigh(lo, hi, n); err != nil {
		return fmt.Errorf("sim.Weigh: %w", err)
	}
	return nil
}
