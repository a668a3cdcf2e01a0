package coll

// Operands, and what is wrong with them.

import (
	"fmt"

	"github.com/gopgas/gopgas/internal/plural"
)

// A Range is a range of symmetric memory.
type Range struct {
	Off     uintptr
	N, Size int // number of elements, and size of one in bytes
}

func (r Range) bytes() int { return r.N * r.Size }

// misuse panics with the error for a wrong use of an operation.
func (g *Group) misuse(op, format string, args ...any) {
	g.set.errors.Misuse(op, fmt.Sprintf(format, args...))
}

// checkFits panics if n elements do not fit room.
func (g *Group) checkFits(k Kind, n, room int) {
	if n > room {
		g.misuse(k.String(), "%s do not fit a range of %d", plural.Count(n, "element"), room)
	}
}

// checkApart panics if the first d bytes of dst and the first s of src overlap.
func (g *Group) checkApart(k Kind, dst Range, d int, src Range, s int) {
	if dst.Off < src.Off+uintptr(s) && src.Off < dst.Off+uintptr(d) {
		g.misuse(k.String(), "dst and src overlap: they must have nothing in common")
	}
}
