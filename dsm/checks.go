package dsm

// What an access looks at before it is a load or a store: whether its element is one of the array's, and in mode Soft
// whether this PE has a copy of its block. It is apart from Array, which is a value: a pointer is passed in one
// register.

import (
	"math/bits"
	"sync/atomic"
)

type checks struct {
	n   uint
	per uint8 // the logarithm of the number of elements for which one of hits stands
	// hits has the states of blocks in mode Soft. It has one state of none for all elements if the number of elements
	// of a block is not 1<<per.
	hits []atomic.Uint32

	states []atomic.Uint32 // the states of the array's blocks in mode Soft
	r      *Region
	from   uint64 // the offset of element 0 in the region
	size   uint64 // the bytes of an element
}

func newChecks(r *Region, from uint64, n int, size uintptr) *checks {
	c := &checks{r: r, n: uint(n), from: from, size: uint64(size), per: 63, hits: make([]atomic.Uint32, 1)}
	if r.memory.soft == nil || n == 0 || size == 0 {
		return c
	}
	lo, hi := c.blocks(0, n)
	c.states = r.memory.soft.states[lo:hi]
	if size&(size-1) == 0 && int(size) <= r.o.Block {
		c.per, c.hits = uint8(r.memory.shift)-uint8(bits.TrailingZeros(uint(size))), c.states
	}
	return c
}

// blocks returns the blocks of elements lo to hi-1.
func (c *checks) blocks(lo, hi int) (first, last int32) {
	return c.r.memory.blocksOf(c.from+uint64(lo)*c.size, c.from+uint64(hi)*c.size)
}

// reading calls slowly unless element i is one of the first direct ones or its block is readable, which costs one load.
// It inlines into accesses, since the compiler counts a call of a parameter as a cheap one; with a function for slowly,
// what is left is a direct call. Modes without checks call slowly only with an index out of range.
func reading(c *checks, direct uint, i int, slowly func(*checks, int)) {
	if uint(i) >= direct && (c == nil || uint(i) >= c.n || c.hits[uint(i)>>(c.per&63)].Load() < readable) {
		slowly(c, i)
	}
}

// writing does what reading does for a block that is readable and changeable.
func writing(c *checks, direct uint, i int, slowly func(*checks, int)) {
	if uint(i) >= direct && (c == nil || uint(i) >= c.n || c.hits[uint(i)>>(c.per&63)].Load() < readable|changeable) {
		slowly(c, i)
	}
}

// read makes element i valid, or panics.
func read(c *checks, i int) {
	if !c.has(i, readable) {
		c.prepare("Read", i, i+1, false)
	}
}

// write makes element i valid and writable, or panics.
func write(c *checks, i int) {
	if !c.has(i, readable|changeable) {
		c.prepare("Write", i, i+1, true)
	}
}

// has reports whether the block of element i has the state want. An element that is in two blocks never has it.
func (c *checks) has(i int, want uint32) bool {
	if c == nil || uint(i) >= c.n || len(c.states) == 0 {
		return false
	}
	at := uint64(i) * c.size
	b := at >> c.r.memory.shift
	return c.states[b].Load()&want == want && (at+c.size-1)>>c.r.memory.shift == b
}

// prepare makes copies of the elements from lo to hi-1 valid, and writable if write is set.
func (c *checks) prepare(op string, lo, hi int, write bool) {
	c.mustHold(op, lo, hi)
	if c.r.fences.Cache == nil || lo == hi {
		return
	}
	first, last := c.blocks(lo, hi)
	c.r.ensure(first, last, write)
}

// mustHold panics unless lo to hi-1 are elements of an array of an open region.
func (c *checks) mustHold(op string, lo, hi int) {
	if c == nil {
		misuse("Array."+op, "a zero Array: Alloc makes one")
	}
	c.r.mustBeOpen("Array." + op)
	if lo < 0 || hi < lo || uint(hi) > c.n {
		misuse("Array."+op, "elements [%d:%d] of %d", lo, hi, c.n)
	}
}
