package pgas

import (
	"cmp"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
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

// A cond is what a wait waits for: one word and a comparison, or a set of words. It is a value, so that
// waiting allocates nothing.
type cond struct {
	p      unsafe.Pointer
	word   transport.Word // where it is in this PE's heap; Off 0 if it is not in it
	cmp    Cmp
	signed bool
	want   uint64
	party  Party    // what the wait is part of, or nil
	set    *wordSet // if not nil, all of the above but Off means nothing

	pred        unsafe.Pointer // the predecessor's copy of the word, for a PE in a queue, or nil
	predWaiting uint64         // what it is as long as the predecessor waits too
}

func (n *Node) wordCond(at transport.Word, cmp Cmp, want uint64, signed bool) cond {
	return cond{p: n.own(uintptr(at.Off)), word: at, cmp: cmp, signed: signed, want: want}
}

// withPredecessor returns c for a PE that waits in a queue. pred is the predecessor's copy of the word, or nil if it
// is not mapped in this process. The predecessor itself is waiting while its copy equals predWaiting.
func (c cond) withPredecessor(pred unsafe.Pointer, predWaiting uint64) cond {
	c.pred, c.predWaiting = pred, predWaiting
	return c
}

// predecessorReleased reports whether this PE is queued behind one that does not wait any more.
func (c *cond) predecessorReleased() bool {
	switch {
	case c.pred == nil:
		return false
	case c.word.Bytes == 4:
		return atomic.LoadUint32((*uint32)(c.pred)) != uint32(c.predWaiting)
	}
	return atomic.LoadUint64((*uint64)(c.pred)) != c.predWaiting
}

// atLeast is the condition that a word of the host segment has reached v.
func atLeast(p *atomic.Uint64, v uint64) cond {
	return cond{p: unsafe.Pointer(p), word: transport.Word{Bytes: 8}, cmp: GE, want: v}
}

// waiting is what State.Waiting holds while a goroutine sleeps on c.
func (c *cond) waiting() uint64 {
	switch {
	case c.set != nil:
		return boot.WatchRange(c.set.off, c.set.offset(c.set.n))
	case c.word.Off == 0:
		return boot.BarrierWord
	}
	return boot.WatchWord(c.word.Off)
}

// number formats v as the program would write it.
func (c *cond) number(v uint64) string {
	switch {
	case c.signed && c.word.Bytes == 2:
		return strconv.FormatInt(int64(int16(v)), 10)
	case c.signed && c.word.Bytes == 4:
		return strconv.FormatInt(int64(int32(v)), 10)
	case c.signed:
		return strconv.FormatInt(int64(v), 10)
	case c.word.Bytes == 4:
		return strconv.FormatUint(uint64(uint32(v)), 10)
	}
	return strconv.FormatUint(v, 10)
}

// spin looks up to n times and returns as check does. What is waited for most, an 8-byte word that
// grows, has a loop of its own: the way out of it is on the path of every message.
func (c *cond) spin(n int) (uint64, bool) {
	if c.cmp == GE && c.word.Bytes == 8 {
		p, flip := (*uint64)(c.p), uint64(0)
		if c.signed {
			flip = 1 << 63 // which turns the order of signed numbers into that of unsigned ones
		}
		for want := c.want ^ flip; n > 0; n-- {
			if v := atomic.LoadUint64(p); v^flip >= want {
				return v, true
			}
		}
		return 0, false
	}
	if c.set != nil {
		n = n/c.set.n + 1 // as long, not as often
	}
	for ; n > 0; n-- {
		if v, ok := c.check(); ok {
			return v, true
		}
	}
	return 0, false
}

// check returns the word's value and whether it compares true.
func (c *cond) check() (uint64, bool) {
	if c.set != nil {
		return 0, c.set.over()
	}
	var v uint64
	if c.word.Bytes == 4 {
		v = uint64(atomic.LoadUint32((*uint32)(c.p)))
	} else if c.word.Bytes == 2 {
		return c.checkShort()
	} else {
		v = atomic.LoadUint64((*uint64)(c.p))
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

// compare reports whether a compares true with b. An unknown comparison is never true: callers reject it.
func compare[T cmp.Ordered](how Cmp, a, b T) bool {
	switch how {
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
	return false
}
