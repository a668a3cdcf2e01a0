package coll

// A reduction or scan under way: its group, its operands, its operator.

import (
	"github.com/gopgas/gopgas/pgas/internal/node"

	"github.com/gopgas/gopgas/internal/plural"
)

// blockBytes is how much is combined at a time: the block of the result stays in the first cache while
// the sources pass.
const blockBytes = 8 << 10

// A reduction is one under way.
type reduction[T any] struct {
	g        *Group
	l        *layout
	dst, src Range
	f        Operator[T]
}

// newReduction checks the operands of a reduction or a scan.
func newReduction[T any](op string, g *Group, dst, src Range, f Operator[T], o Options) reduction[T] {
	if dst.N != src.N {
		g.misuse(op, "dst has %s and src %d: they must be as many", plural.Count(dst.N, "element"), src.N)
	}
	if d := int(dst.Off) - int(src.Off); d != 0 && max(d, -d) < dst.bytes() {
		g.misuse(op, "dst and src overlap: they must be the same range or have nothing in common")
	}
	return reduction[T]{g, g.layoutFor(o), dst, src, f}
}

// dstMine returns this PE's dst.
func (r *reduction[T]) dstMine() []T { return ownSlice[T](r.g.n, r.dst.Off, r.dst.N) }

// srcMine returns this PE's src.
func (r *reduction[T]) srcMine() []T { return ownSlice[T](r.g.n, r.src.Off, r.src.N) }

// bytes is the size of the operand.
func (r *reduction[T]) bytes() int { return r.dst.N * int(node.SizeOf[T]()) }
