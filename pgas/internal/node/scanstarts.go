package node

// Where scans of sets of words start.

import (
	"math/bits"
	"sync/atomic"
)

// scanStarts spreads the places where sets start to search, so that no word starves when a program
// makes a new set for every wait: steps of the golden section of the circle visit every part of it, and
// so does every second or every k-th of them.
type scanStarts struct{ at atomic.Uint64 }

const goldenStep = 0x9e3779b97f4a7c15

func (p *scanStarts) next(n int) int {
	i, _ := bits.Mul64(p.at.Add(goldenStep), uint64(n))
	return int(i)
}
