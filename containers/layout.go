package containers

// Where the elements of an array are: the arithmetic of block, cyclic and block-cyclic distributions.

import (
	"fmt"
	"math/bits"

	"github.com/gopgas/gopgas/internal/plural"
)

// layout distributes indexes 0 to n-1 over members 0 to p-1. Each member's elements are in the order of their indexes,
// at places from 0 on.
type layout struct {
	n, p  int
	block int // indexes in a row on one member, which the members take in turn; 0: one block for each member

	starts []int   // for block 0, the first index of each member, and n
	ratio  float64 // for block 0, members per index
	shift  int     // for block 1, log2 p if p is a power of two, else -1
}

// newLayout returns the layout of n elements over p members in blocks of the given length, or for 0 in one block for
// each member, as Team.Share divides.
func newLayout(n, p, block int) layout {
	l := layout{n: n, p: p, block: block, shift: -1}
	switch {
	case block == 0:
		l.ratio = float64(p) / float64(max(n, 1))
		l.starts = make([]int, p+1)
		for pe := range l.starts {
			high, low := bits.Mul64(uint64(pe), uint64(n))
			start, _ := bits.Div64(high, low, uint64(p))
			l.starts[pe] = int(start)
		}
	case block == 1 && bits.OnesCount(uint(p)) == 1:
		l.shift = bits.TrailingZeros(uint(p))
	}
	return l
}

// locate returns the member that has index i, and its place there.
func (l *layout) locate(i int) (pe, at int) {
	switch {
	case l.shift >= 0:
		return i & (l.p - 1), i >> l.shift
	case l.block > 0:
		b, in := i/l.block, i%l.block
		return b % l.p, b/l.p*l.block + in
	}
	// The product is off by one at most: a multiplication and a comparison or two are less than a division.
	pe = min(int(float64(i)*l.ratio), l.p-1)
	for i < l.starts[pe] {
		pe--
	}
	for i >= l.starts[pe+1] {
		pe++
	}
	return pe, i - l.starts[pe]
}

// index returns the index of the element at a place of member pe: the inverse of locate.
func (l *layout) index(pe, at int) int {
	if l.block == 0 {
		return l.starts[pe] + at
	}
	return (at/l.block*l.p+pe)*l.block + at%l.block
}

// before returns how many elements of member pe have an index below i: the place that i has or would have there.
func (l *layout) before(pe, i int) int {
	if l.block == 0 {
		return min(max(i-l.starts[pe], 0), l.len(pe))
	}
	row := l.block * l.p
	return i/row*l.block + min(max(i%row-pe*l.block, 0), l.block)
}

// len returns how many elements member pe has.
func (l *layout) len(pe int) int {
	if l.block > 0 {
		return l.before(pe, l.n)
	}
	return l.starts[pe+1] - l.starts[pe]
}

// most returns how many elements the member with the most has.
func (l *layout) most() int {
	if l.block > 0 {
		return l.len(0)
	}
	return (l.n + l.p - 1) / l.p
}

// run returns how many indexes from i on are at consecutive places of the member that has i.
func (l *layout) run(i int) int {
	if l.block > 0 {
		if l.p == 1 {
			return l.n - i
		}
		return min(l.block-i%l.block, l.n-i)
	}
	pe, at := l.locate(i)
	return l.len(pe) - at
}

func (l *layout) String() string {
	switch l.block {
	case 0:
		return fmt.Sprintf("%s in blocks over %s", plural.Count(l.n, "element"), plural.Count(l.p, "member"))
	default:
		return fmt.Sprintf("%s in turns of %d over %s", plural.Count(l.n, "element"), l.block, plural.Count(l.p, "member"))
	}
}
