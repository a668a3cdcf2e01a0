package pgas

// The CPU's own atomic operations on a word of the mapped heap, of 4 or of 8 bytes.
//
// The fast path of atomics of 8 bytes: one comparison, two loads, one locked instruction, and a look at the owner's
// doorbell. It inlines into the program, where the locked instruction need not wait for the stores of a call.
// Two calls do not fit into what the compiler inlines, so one slow path does all else: it learns from the same
// comparison whether the word has been updated already, and then only rings the doorbell.
//
// The size of a word is not constant when the compiler decides what to inline, so a test of it would cost too much.
// Instead the index of a word of 4 bytes is outside every table, and the slow path updates the word.

import (
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// wide reports whether F has 8 bytes.
func wide[F any]() bool {
	var v F
	return unsafe.Sizeof(v) == 8
}

// isSigned reports whether W is a signed type.
func isSigned[W Word]() bool { return ^W(0) < 0 }

// fetchWord is the fast path of a fetch. It inlines; fastpath_unsafe.go explains why the slow path is a parameter.
//
//gcassert:inline
func fetchWord[W Word](c *Context, off uintptr, pe int, far func(c *Context, pe int, off, n uintptr) uint64) (v W) {
	if i := uint(pe - c.firstPE); i < uint(len(c.words)) {
		p := unsafe.Add(c.words[i].base, off)
		if unsafe.Sizeof(v) == 4 {
			return W(atomic.LoadUint32((*uint32)(p)))
		}
		return W(atomic.LoadUint64((*uint64)(p)))
	}
	return W(far(c, pe, off, unsafe.Sizeof(v)))
}

// and stores the bitwise and of the word at p with v, and returns the old value.
func and[W Word](p unsafe.Pointer, v W) W {
	if wide[W]() {
		return W(atomic.AndUint64((*uint64)(p), uint64(v)))
	}
	return W(atomic.AndUint32((*uint32)(p), uint32(v)))
}

// or stores the bitwise or of the word at p with v, and returns the old value.
func or[W Word](p unsafe.Pointer, v W) W {
	if wide[W]() {
		return W(atomic.OrUint64((*uint64)(p), uint64(v)))
	}
	return W(atomic.OrUint32((*uint32)(p), uint32(v)))
}

// apply runs an operation that the CPU has no instruction for, as a loop of compare-swaps, and returns the old value.
func apply[W Word](p unsafe.Pointer, op transport.Op, v W) W {
	if wide[W]() {
		return W(shm.Apply64((*uint64)(p), op, uint64(v), 0))
	}
	return W(shm.Apply32((*uint32)(p), op, uint32(v), 0))
}

// placeOfIndex returns the PE and the size of the word of an index.
func placeOfIndex(at uintptr) (pe int, bytes int) {
	pe = int(at + 8<<wordSizeShift)
	if narrow := pe - 4<<wordSizeShift; -1<<wordSizeShift <= narrow && narrow <= 1<<wordSizeShift {
		return narrow, 4
	}
	return pe, 8
}

// The fast paths. Each is given the index of a word, and gives the slow path the distance of that from firstWord, with
// the old value if the word has been updated. The load of waiting comes after the locked instruction, and cannot
// overtake it.

//gcassert:inline
func fetchAddWord(c *Context, off, at uintptr, v uint64, slow func(c *Context, off, at uintptr, v, old uint64) uint64) (old uint64) {
	if at -= c.firstWord; at < uintptr(len(c.words)) {
		old = atomic.AddUint64((*uint64)(unsafe.Add(c.words[at].base, off)), v) - v
		if atomic.LoadUint64(c.words[at].waiting) == 0 {
			return
		}
	}
	return slow(c, off, at, v, old)
}

//gcassert:inline
func swapWord(c *Context, off, at uintptr, v uint64, slow func(c *Context, off, at uintptr, v, old uint64) uint64) (old uint64) {
	if at -= c.firstWord; at < uintptr(len(c.words)) {
		old = atomic.SwapUint64((*uint64)(unsafe.Add(c.words[at].base, off)), v)
		if atomic.LoadUint64(c.words[at].waiting) == 0 {
			return
		}
	}
	return slow(c, off, at, v, old)
}

// swapped marks the distance that compareSwapWord gives the slow path after it has updated the word. No PE is so far
// away.
const swapped = 1 << 62

//gcassert:inline
func compareSwapWord(c *Context, off, at uintptr, cond, v uint64, slow func(c *Context, off, at uintptr, cond, v uint64) uint64) uint64 {
	if at -= c.firstWord; at < uintptr(len(c.words)) && atomic.CompareAndSwapUint64((*uint64)(unsafe.Add(c.words[at].base, off)), cond, v) {
		if atomic.LoadUint64(c.words[at].waiting) == 0 {
			return cond
		}
		at |= swapped
	}
	return slow(c, off, at, cond, v)
}

//gcassert:inline
func addWord(c *Context, off, at uintptr, v uint64, slow func(c *Context, off, at uintptr, v uint64)) {
	if at -= c.firstWord; at < uintptr(len(c.words)) {
		atomic.AddUint64((*uint64)(unsafe.Add(c.words[at].base, off)), v)
		if atomic.LoadUint64(c.words[at].waiting) == 0 {
			return
		}
	}
	slow(c, off, at, v)
}

//gcassert:inline
func setWord(c *Context, off, at uintptr, v uint64, slow func(c *Context, off, at uintptr, v uint64)) {
	if at -= c.firstWord; at < uintptr(len(c.words)) {
		atomic.StoreUint64((*uint64)(unsafe.Add(c.words[at].base, off)), v)
		if atomic.LoadUint64(c.words[at].waiting) == 0 {
			return
		}
	}
	slow(c, off, at, v)
}

// The slow paths.

//go:noinline
func slowFetchAdd(c *Context, off, at uintptr, v, old uint64) uint64 {
	if c.ringUpdated(off, at) {
		return old
	}
	return c.fetchAway(off, at, transport.Add, v, 0)
}

//go:noinline
func slowSwap(c *Context, off, at uintptr, v, old uint64) uint64 {
	if c.ringUpdated(off, at) {
		return old
	}
	return c.fetchAway(off, at, transport.Swap, v, 0)
}

//go:noinline
func slowCompareSwap(c *Context, off, at uintptr, cond, v uint64) uint64 {
	switch n := uintptr(len(c.words)); {
	case at&swapped != 0 && at&^swapped < n: // it has been updated
		c.ringUpdated(off, at&^swapped)
		return cond
	case at < n: // it was not cond: a second attempt tells what it is
		old := shm.CompareSwap64((*uint64)(unsafe.Add(c.words[at].base, off)), cond, v)
		c.ringUpdated(off, at)
		return old
	}
	return c.fetchAway(off, at, transport.CompareSwap, v, cond)
}

//go:noinline
func slowAdd(c *Context, off, at uintptr, v uint64) {
	if !c.ringUpdated(off, at) {
		c.postAway(off, at, transport.Add, v)
	}
}

//go:noinline
func slowSet(c *Context, off, at uintptr, v uint64) {
	if !c.ringUpdated(off, at) {
		c.postAway(off, at, transport.Set, v)
	}
}

// ringUpdated rings the doorbell of the owner of a word that the fast path has updated. It reports false if the fast
// path has not.
func (c *Context) ringUpdated(off, at uintptr) bool {
	if at >= uintptr(len(c.words)) {
		return false
	}
	c.words[at].door().Ring(uint64(off))
	return true
}

// fetchAway updates a word of 4 bytes, or one that only a transport reaches, and returns the old value.
func (c *Context) fetchAway(off, at uintptr, op transport.Op, v, cond uint64) uint64 {
	pe, bytes := placeOfIndex(c.firstWord + at)
	if p, door := c.atomicAddr(pe, off); p != nil {
		old := shm.Apply32((*uint32)(p), op, uint32(v), uint32(cond))
		door.Ring(uint64(off))
		return uint64(old)
	}
	return c.mustAtomic(pe, op, transport.Word{Off: c.place("atomic", off, uintptr(bytes)), Bytes: bytes}, v, cond)
}

// postAway is fetchAway without the old value.
func (c *Context) postAway(off, at uintptr, op transport.Op, v uint64) {
	pe, bytes := placeOfIndex(c.firstWord + at)
	if p, door := c.atomicAddr(pe, off); p != nil {
		shm.Apply32((*uint32)(p), op, uint32(v), 0)
		door.Ring(uint64(off))
		return
	}
	via, to := c.routeTo(op.String(), pe)
	word := transport.Word{Off: c.place(updateOp, off, uintptr(bytes)), Bytes: bytes}
	c.w.check.update(op.String(), to, word.Off, op)
	via.Post(to, op, word, v)
}

// mustAtomic runs a fetching atomic through the transport. It panics with the transport's error, since a fetching
// atomic, like a blocking get, has no error result.
func (c *Context) mustAtomic(pe int, op transport.Op, at transport.Word, operand, cond uint64) uint64 {
	via, to := c.routeTo(op.String(), pe)
	if via == c.local { // memory of this host: nothing to wait for
		old, _ := via.Atomic(c.w.n.Ctx, to, op, at, operand, cond)
		return old
	}
	mark := c.w.n.Block(node.Blocked{Op: boot.InAtomic, Peer: to, Seq: at.Off})
	old, err := via.Atomic(c.w.n.Ctx, to, op, at, operand, cond)
	c.w.n.Unblock(mark)
	if err != nil {
		panic(err)
	}
	return old
}
