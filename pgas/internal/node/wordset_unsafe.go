package node

// How a PE waits for many words at once. It looks at all of them in a row instead of at one, as often as
// it would look at one if there are few of them; it then sleeps on the same doorbell, which rings for the
// block of memory that they all lie in. Another host's arrivals are waited for at the doorbell too.
//
// Looking is a subtraction and a comparison a word: every comparison asks for an interval of values, or
// for what is outside of one, once the numbers are arranged in the order of unsigned ones.

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

// wordSet is a WaitSet without its type.
type WordSet struct {
	node   *Node
	p      unsafe.Pointer // the first word
	off    uint64         // offset of the first word in the heap
	N      int
	Wide   bool // the words have 8 bytes; else they have 4
	Signed bool
	top    uint64 // the largest unsigned word
	flip   uint64 // the bit that turns the order of the words into that of unsigned ones
	Cmp    transport.Cmp
	want   interval       // what every word is compared with
	Wants  unsafe.Pointer // if not nil, what each of the n words is compared with
	Skip   []bool         // if not nil, which words do not belong to the set

	goal  goal
	next  int    // a search for any starts here: after the last answer
	Found int    // the answer of the last search
	Value uint64 // the value of the found word
	// pending has a bit for each word that belongs to the set and has not compared true since the call
	// began; left counts them.
	pending []uint64
	Left    int
}

// goal is when a wait is over.
type goal uint8

const (
	FindAny    goal = iota // when a word is found
	FindNew                // when a pending word is found
	ExhaustAll             // when no word is pending
)

// interval is the values from lo to lo+width, or with not all others.
type interval struct {
	lo, width uint64
	not       bool
}

// intervalOf is the values that compare true with want. top is the largest of all.
func intervalOf(cmp transport.Cmp, want, top uint64) interval {
	switch cmp {
	case transport.EQ, transport.NE:
		return interval{want, 0, cmp == transport.NE}
	case transport.GE, transport.LT:
		return interval{want, top - want, cmp == transport.LT}
	case transport.LE, transport.GT:
		return interval{0, want, cmp == transport.GT}
	}
	return interval{}
}

func (in interval) contains(v uint64) bool { return (v-in.lo <= in.width) != in.not }

// Init fills in what follows from where the words are and how they compare. off is the offset of the first.
func (s *WordSet) Init(n *Node, off, want uint64) {
	s.node, s.top = n, math.MaxUint64
	if !s.Wide {
		s.top = math.MaxUint32
	}
	s.off, s.p = off, n.Own(uintptr(off))
	if s.Signed {
		s.flip = s.top/2 + 1
	}
	s.want = intervalOf(s.Cmp, s.order(want), s.top)
	s.next = n.scanStarts.next(s.N)
}

// Bytes returns how many bytes of the heap the words span.
func (s *WordSet) Bytes() uint64 { return s.offset(s.N) - s.off }

// Span returns the offset of the words and how many bytes they span.
func (s *WordSet) Span() (off, bytes uint64) { return s.off, s.Bytes() }

// Place returns the offset and the size of word i.
func (s *WordSet) Place(i int) (off, bytes uint64) { return s.offset(i), s.offset(1) - s.off }

// order is a word's place in the order of the words.
func (s *WordSet) order(v uint64) uint64 { return v&s.top ^ s.flip }

// load returns word i.
func (s *WordSet) load(i int) uint64 { return LoadWord(s.p, i, s.Wide) }

// LoadWord loads word i of those at p, which have 8 bytes if wide is set and 4 otherwise.
func LoadWord(p unsafe.Pointer, i int, wide bool) uint64 {
	if wide {
		return atomic.LoadUint64((*uint64)(unsafe.Add(p, 8*i)))
	}
	return uint64(atomic.LoadUint32((*uint32)(unsafe.Add(p, 4*i))))
}

// wanted is value i of a set that has one for each word.
func (s *WordSet) wanted(i int) uint64 {
	if s.Wide {
		return *(*uint64)(unsafe.Add(s.Wants, 8*i))
	}
	return uint64(*(*uint32)(unsafe.Add(s.Wants, 4*i)))
}

// test returns the value of word i and whether it compares true.
func (s *WordSet) test(i int) (uint64, bool) {
	v, in := s.load(i), s.want
	if s.Wants != nil {
		in = intervalOf(s.Cmp, s.order(s.wanted(i)), s.top)
	}
	return v, in.contains(v ^ s.flip)
}

func (s *WordSet) includes(i int) bool { return s.Skip == nil || !s.Skip[i] }

// done says whether the goal has been reached, after a look at what may have changed.
func (s *WordSet) done() bool {
	switch s.goal {
	case FindNew:
		return s.FindPending()
	case ExhaustAll:
		return s.clearPending()
	}
	return s.Find()
}

// Find looks for any word that compares true, from next on and around.
func (s *WordSet) Find() bool {
	if s.next >= s.N {
		s.next = 0
	}
	return s.findIn(s.next, s.N) || s.findIn(0, s.next)
}

func (s *WordSet) findIn(lo, hi int) bool {
	if s.Wide && s.Wants == nil && s.Skip == nil {
		return s.findWide(lo, hi)
	}
	for i := lo; i < hi; i++ {
		if !s.includes(i) {
			continue
		}
		if v, ok := s.test(i); ok {
			s.found(i, v)
			return true
		}
	}
	return false
}

// findWide is findIn for what is waited for most, with everything in registers.
func (s *WordSet) findWide(lo, hi int) bool {
	in, flip := s.want, s.flip
	words := unsafe.Slice((*uint64)(s.p), hi)
	for i := lo; i < len(words); i++ {
		if v := atomic.LoadUint64(&words[i]); in.contains(v ^ flip) {
			s.found(i, v)
			return true
		}
	}
	return false
}

func (s *WordSet) found(i int, v uint64) { s.Found, s.Value, s.next = i, v, i+1 }

// MarkPending makes the words from lo on pending that belong to the set.
func (s *WordSet) MarkPending(lo int) {
	if s.pending == nil {
		s.pending = make([]uint64, (s.N+63)/64)
	}
	clear(s.pending)
	s.Left = 0
	for i := lo; i < s.N; i++ {
		if s.includes(i) {
			s.pending[i/64] |= 1 << (i % 64)
			s.Left++
		}
	}
}

// FindPending looks for a pending word that compares true, from next on and around, and takes it out.
func (s *WordSet) FindPending() bool {
	first := s.next / 64
	for k := range s.pending {
		at := first + k
		if at >= len(s.pending) {
			at -= len(s.pending)
		}
		for b := s.pending[at]; b != 0; b &= b - 1 {
			i := 64*at + bits.TrailingZeros64(b)
			if v, ok := s.test(i); ok {
				s.pending[at] &^= 1 << (i % 64)
				s.Left--
				s.found(i, v)
				s.next = i // its neighbours are likely to have come too
				return true
			}
		}
	}
	return false
}

// clearPending takes out all pending words that compare true and says whether none is left. Each has
// then been true at some time, as the specification has it, not all at the same time.
func (s *WordSet) clearPending() bool {
	for at, was := range s.pending {
		for b := was; b != 0; b &= b - 1 {
			i := 64*at + bits.TrailingZeros64(b)
			if _, ok := s.test(i); ok {
				s.pending[at] &^= 1 << (i % 64)
				s.Left--
			}
		}
	}
	return s.Left == 0
}

// FirstFalse returns the first word of the set that does not compare true, or n.
func (s *WordSet) FirstFalse() int {
	for i := range s.N {
		if !s.includes(i) {
			continue
		}
		if _, ok := s.test(i); !ok {
			return i
		}
	}
	return s.N
}

// Empty says whether no word belongs to the set.
func (s *WordSet) Empty() bool {
	for i := range s.N {
		if s.includes(i) {
			return false
		}
	}
	return true
}

// Collect appends the word just found, and the others that compare true.
func (s *WordSet) Collect(into []int) []int {
	first := s.Found
	into = append(into, first)
	for i := range s.N {
		if i == first || !s.includes(i) {
			continue
		}
		if _, ok := s.test(i); ok {
			into = append(into, i)
		}
	}
	return into
}

// wanting is the value that all words are compared with.
func (s *WordSet) wanting() any {
	v := s.want.lo
	if s.Cmp == transport.LE || s.Cmp == transport.GT {
		v = s.want.width
	}
	v ^= s.flip
	if s.flip == 0 {
		return v
	}
	if s.Wide {
		return int64(v)
	}
	return int32(v)
}

func (s *WordSet) firstPending() int {
	for at, b := range s.pending {
		if b != 0 {
			return 64*at + bits.TrailingZeros64(b)
		}
	}
	return 0
}

// offset is where word i lies in the heap; that of word n is the end.
func (s *WordSet) offset(i int) uint64 {
	if s.Wide {
		return s.off + 8*uint64(i)
	}
	return s.off + 4*uint64(i)
}
