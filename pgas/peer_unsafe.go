package pgas

// The tables that the fast path indexes. The PEs of a host are numbered without gaps, so one unsigned
// comparison answers "does this PE exist, and is its heap mapped here?"; one load finds the heap, one
// store puts. Everything that must see each access (another host; later statistics, tracing, checks)
// works by emptying the table, which sends the access down the slow path at no cost to those who did
// not ask for it.
//
// The compiler inlines a function up to a cost of 80, and charges 57 for any call in it, but only 17
// for a call of a function parameter, because it expects to know the argument once it has inlined. So
// the fast path is written once, in near.go, with its slow path as a parameter, and accessors that
// generated code exports still inline down to that one store. tests/inline_test.go holds it there.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// at returns the address of offset off in pe's heap, or nil if only the transport reaches it, or if there is no
// such PE, or c is nil: far tells these apart, off the fast path.
func (c *Context) at(pe int, off uintptr) unsafe.Pointer {
	if c == nil {
		return nil
	}
	if i := uint(pe - c.first); i < uint(len(c.near)) {
		return unsafe.Add(c.near[i], off)
	}
	return nil
}

// wordAt is at for atomics, with the doorbell to ring after an update.
func (c *Context) wordAt(pe int, off uintptr) (unsafe.Pointer, *boot.State) {
	if c == nil {
		return nil, nil
	}
	if i := uint(pe - c.first); i < uint(len(c.words)) && i < uint(len(c.doors)) {
		return unsafe.Add(c.words[i], off), c.doors[i]
	}
	return nil, nil
}

// predecessorWord returns the address of PE pe's copy of a word, for a wait in a queue behind pe, or nil if it is not
// mapped in this process.
func (c *Context) predecessorWord(pe int, off uintptr) unsafe.Pointer {
	if c.w.n.Sched != nil {
		return nil
	}
	p, _ := c.wordAt(pe, off&offsetMask)
	return p
}

// far returns what carries an access to pe, and pe's number there, which is the job's. It checks that
// there is such a PE and that the context is open.
func (c *Context) far(op string, pe int) (*route, int) {
	c.world(op)
	if uint(pe) >= uint(len(c.team.g.PEs)) {
		misuse(op, "PE %d is out of range: this %s has PEs 0 to %d", pe, c.team.noun(), len(c.team.g.PEs)-1)
	}
	if c.closed.Load() {
		misuse(op, "the context is closed")
	}
	if c.via == nil {
		return c.remote, c.team.g.PEs[pe]
	}
	return c.via[pe], c.team.g.PEs[pe]
}

// openWindow fills in the tables of the PEs of this host. They serve one run of consecutive numbers,
// which for most teams is all of the host's members; others are reached through the channel, which does
// the same with a few nanoseconds more.
func (c *Context) openWindow() {
	lo, hi := c.team.nearRun()
	c.first = lo
	for _, pe := range c.team.g.PEs[lo:hi] {
		c.near = append(c.near, node.BasePointer(c.w.n.Shm.Heap(pe)))
		c.doors = append(c.doors, c.w.n.Job.Segment.States[pe-c.w.n.FirstPE])
	}
	c.words = c.near
}

// heapPointers are the addresses of heaps in this process.
type heapPointers []unsafe.Pointer

// bytesOf is the memory of n elements at p, hidden from escape analysis: transports do not keep the
// slices that they are given beyond the call, and saying so here keeps far puts free of allocation.
func bytesOf[T any](p *T, n int) []byte {
	return node.NoescapeBytes(unsafe.Pointer(p), uintptr(n)*unsafe.Sizeof(*p))
}

// keptBytesOf is the memory of n elements at p for an operation that outlives the call.
func keptBytesOf[T any](p *T, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), uintptr(n)*unsafe.Sizeof(*p))
}
