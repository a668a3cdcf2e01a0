package node

import (
	"cmp"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Cond is what a wait waits for: one word and a comparison, or a set of words. It is a value, so that
// waiting allocates nothing.
type Cond struct {
	p      unsafe.Pointer
	Word   transport.Word // place of the word in this PE's heap; Off is 0 if it is not in the heap
	Cmp    transport.Cmp
	signed bool
	Want   uint64
	Party  Party    // what the wait is part of, or nil
	joint  bool     // Party is a call of a library, which may wait often for a short time
	set    *WordSet // the set of words that are waited for; if not nil, only Off counts of the fields above

	pred        unsafe.Pointer // the predecessor's copy of the word, for a PE in a queue, or nil
	predWaiting uint64         // the value of pred while the predecessor waits too
}

// WordCond is the condition that this PE's word at compares with want as cmp says. signed says how words of that type
// compare.
func (n *Node) WordCond(at transport.Word, cmp transport.Cmp, want uint64, signed bool) Cond {
	return Cond{p: n.Own(uintptr(at.Off)), Word: at, Cmp: cmp, signed: signed, Want: want}
}

// WithPredecessor returns c for a PE that waits in a queue. pred is the predecessor's copy of the word, or nil if it
// is not mapped in this process. The predecessor itself is waiting while its copy equals predWaiting.
func (c Cond) WithPredecessor(pred unsafe.Pointer, predWaiting uint64) Cond {
	c.pred, c.predWaiting = pred, predWaiting
	return c
}

// predecessorReleased reports whether this PE's predecessor in a queue does not wait any more.
func (c *Cond) predecessorReleased() bool {
	switch {
	case c.pred == nil:
		return false
	case c.Word.Bytes == 4:
		return atomic.LoadUint32((*uint32)(c.pred)) != uint32(c.predWaiting)
	}
	return atomic.LoadUint64((*uint64)(c.pred)) != c.predWaiting
}

// AtLeast returns the condition that a word of the host segment has reached v.
func AtLeast(p *atomic.Uint64, v uint64) Cond {
	return Cond{p: unsafe.Pointer(p), Word: transport.Word{Bytes: 8}, Cmp: transport.GE, Want: v}
}

// waiting returns what State.Waiting holds while a goroutine sleeps on c: 0 if c is no word of the heap, but of members
// of a team.
func (c *Cond) waiting() uint64 {
	switch {
	case c.set != nil:
		return boot.WatchRange(c.set.off, c.set.offset(c.set.N))
	case c.Word.Off == 0:
		return 0
	}
	return boot.WatchWord(c.Word.Off)
}

// Number formats v as the program would write it.
func (c *Cond) Number(v uint64) string {
	switch {
	case c.signed && c.Word.Bytes == 2:
		return strconv.FormatInt(int64(int16(v)), 10)
	case c.signed && c.Word.Bytes == 4:
		return strconv.FormatInt(int64(int32(v)), 10)
	case c.signed:
		return strconv.FormatInt(int64(v), 10)
	case c.Word.Bytes == 4:
		return strconv.FormatUint(uint64(uint32(v)), 10)
	}
	return strconv.FormatUint(v, 10)
}

// spin polls up to n times and returns as Check does. The most frequent condition, an 8-byte word that grows, has a
// loop of its own, because the exit of that loop is on the path of every message.
func (c *Cond) spin(n int) (uint64, bool) {
	if c.Cmp == transport.GE && c.Word.Bytes == 8 {
		p, flip := (*uint64)(c.p), uint64(0)
		if c.signed {
			flip = 1 << 63 // which turns the order of signed numbers into that of unsigned ones
		}
		want := c.Want ^ flip
		if c.Word.Off == 0 {
			for ; n > 0; n-- {
				if v := atomic.LoadUint64(p); v^flip >= want {
					return v, true
				}
			}
			return 0, false
		}
		for ; n > 0; n-- {
			if v := atomic.LoadUint64(p); v^flip >= want {
				return v, true
			}
			betweenPolls()
		}
		return 0, false
	}
	if c.set != nil {
		n = n/c.set.N + 1 // as long, not as often
	}
	for ; n > 0; n-- {
		if v, ok := c.Check(); ok {
			return v, true
		}
	}
	return 0, false
}

// betweenPolls keeps loads of a word apart. When the word's line is taken away while many loads of it are under way,
// the CPU throws all of them away and begins anew. On an Intel Xeon a ping-pong of flags takes 123 ns with this call
// and 147 ns without it (medians of seven alternating runs); PAUSE and LFENCE gain less. A barrier, whose PEs poll
// different words, loses by it.
//
//go:noinline
func betweenPolls() {}

// Check returns the word's value and whether it compares true.
func (c *Cond) Check() (uint64, bool) {
	if c.set != nil {
		return 0, c.set.done()
	}
	var v uint64
	if c.Word.Bytes == 4 {
		v = uint64(atomic.LoadUint32((*uint32)(c.p)))
	} else if c.Word.Bytes == 2 {
		return c.checkShort()
	} else {
		v = atomic.LoadUint64((*uint64)(c.p))
	}
	if c.signed {
		a, b := int64(v), int64(c.Want)
		if c.Word.Bytes == 4 {
			a, b = int64(int32(v)), int64(int32(c.Want))
		}
		return v, Compare(c.Cmp, a, b)
	}
	if c.Word.Bytes == 4 {
		return v, Compare(c.Cmp, v, uint64(uint32(c.Want)))
	}
	return v, Compare(c.Cmp, v, c.Want)
}

// Compare reports whether a compares true with b. An unknown comparison is never true: callers reject it.
func Compare[T cmp.Ordered](how transport.Cmp, a, b T) bool {
	switch how {
	case transport.EQ:
		return a == b
	case transport.NE:
		return a != b
	case transport.GT:
		return a > b
	case transport.GE:
		return a >= b
	case transport.LT:
		return a < b
	case transport.LE:
		return a <= b
	}
	return false
}

// checkShort does Check's work for a word of 16 bits.
func (c *Cond) checkShort() (uint64, bool) {
	whole, at := Around(c.p)
	now := atomic.LoadUint32(whole)
	v := *(*uint16)(unsafe.Add(unsafe.Pointer(&now), at))
	if c.signed {
		return uint64(v), Compare(c.Cmp, int64(int16(v)), int64(int16(c.Want)))
	}
	return uint64(v), Compare(c.Cmp, uint64(v), uint64(uint16(c.Want)))
}

// Around returns the address of the aligned 4 bytes around the 2 at p, and the place of the 2 in them.
func Around(p unsafe.Pointer) (*uint32, uintptr) {
	at := uintptr(p) & 2
	return (*uint32)(unsafe.Add(p, -int(at))), at
}
