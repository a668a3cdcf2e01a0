package pgas

import (
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

// Cmp is a comparison of a wait.
type Cmp = transport.Cmp

// The comparisons of a wait.
const (
	EQ = transport.EQ
	NE = transport.NE
	GT = transport.GT
	GE = transport.GE
	LT = transport.LT
	LE = transport.LE
)

// A cond is what a wait waits for: one word and a comparison. It is a value, so that waiting allocates
// nothing.
type cond struct {
	p      unsafe.Pointer
	word   transport.Word // where it is in this PE's heap; Off 0 if it is not in it
	cmp    Cmp
	signed bool
	want   uint64
}

func (w *World) wordCond(at transport.Word, cmp Cmp, want uint64, signed bool) cond {
	return cond{p: w.own(uintptr(at.Off)), word: at, cmp: cmp, signed: signed, want: want}
}

// atLeast is the condition that a word of the host segment has reached v.
func atLeast(p *atomic.Uint64, v uint64) cond {
	return cond{p: unsafe.Pointer(p), word: transport.Word{Bytes: 8}, cmp: GE, want: v}
}

// check returns the word's value and whether it compares true.
func (c *cond) check() (uint64, bool) {
	var v uint64
	if c.word.Bytes == 4 {
		v = uint64(atomic.LoadUint32((*uint32)(c.p)))
	} else {
		v = atomic.LoadUint64((*uint64)(c.p))
	}
	if c.cmp == GE && !c.signed { // signals, barriers
		return v, v >= c.want
	}
	if c.signed {
		a, b := int64(v), int64(c.want)
		if c.word.Bytes == 4 {
			a, b = int64(int32(v)), int64(int32(c.want))
		}
		return v, compare(c.cmp, a, b)
	}
	if c.word.Bytes == 4 {
		return v, compare(c.cmp, v, uint64(uint32(c.want)))
	}
	return v, compare(c.cmp, v, c.want)
}

func compare[T int64 | uint64](cmp Cmp, a, b T) bool {
	switch cmp {
	case EQ:
		return a == b
	case NE:
		return a != b
	case GT:
		return a > b
	case GE:
		return a >= b
	case LT:
		return a < b
	case LE:
		return a <= b
	}
	misuse("wait", "unknown comparison %d: use EQ, NE, GT, GE, LT or LE", uint8(cmp))
	return false
}
