package pgas

import (
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
	team   *Team    // whose call the wait is part of, or nil
	set    *wordSet // if not nil, all of the above but Off means nothing

	ahead unsafe.Pointer // the word of the PE before in a queue, or nil
	still uint64         // what it is as long as that PE waits too
}

func (w *World) wordCond(at transport.Word, cmp Cmp, want uint64, signed bool) cond {
	return cond{p: w.own(uintptr(at.Off)), word: at, cmp: cmp, signed: signed, want: want}
}

// behind is c for a PE that waits in a queue. pe is the one before, whose copy of the word is still as long as
// it waits too.
func (c cond) behind(x *Context, pe int, still uint64) cond {
	if x.w.sched == nil && pe >= 0 {
		c.ahead, _ = x.wordAt(pe, uintptr(c.word.Off))
		c.still = still
	}
	return c
}

// next reports whether this PE waits for one that waits no more.
func (c *cond) next() bool {
	switch {
	case c.ahead == nil:
		return false
	case c.word.Bytes == 4:
		return atomic.LoadUint32((*uint32)(c.ahead)) != uint32(c.still)
	}
	return atomic.LoadUint64((*uint64)(c.ahead)) != c.still
}

// atLeast is the condition that a word of the host segment has reached v.
func atLeast(p *atomic.Uint64, v uint64) cond {
	return cond{p: unsafe.Pointer(p), word: transport.Word{Bytes: 8}, cmp: GE, want: v}
}

// waiting is what State.Waiting holds while a goroutine sleeps on c.
func (c *cond) waiting() uint64 {
	switch {
	case c.set != nil:
		return boot.Block(c.set.off, c.set.offset(c.set.n))
	case c.word.Off == 0:
		return boot.MeetingWord
	}
	return boot.Granule(c.word.Off)
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
	badCmp(cmp)
	return false
}

func badCmp(cmp Cmp) {
	misuse("wait", "unknown comparison %d: use EQ, NE, GT, GE, LT or LE", uint8(cmp))
}
