package pgas

// The CPU's own atomic operations on a word of the mapped heap, of 4 or of 8 bytes. The size of W is a constant in
// each instance, so the compiler keeps one branch of each function.

import (
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
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
	if i := uint(pe - c.firstPE); i < uint(len(c.atomicBases)) {
		p := unsafe.Add(c.atomicBases[i], off)
		if unsafe.Sizeof(v) == 4 {
			return W(atomic.LoadUint32((*uint32)(p)))
		}
		return W(atomic.LoadUint64((*uint64)(p)))
	}
	return W(far(c, pe, off, unsafe.Sizeof(v)))
}

// swap stores v at p and returns the old value.
func swap[W Word](p unsafe.Pointer, v W) W {
	if wide[W]() {
		return W(atomic.SwapUint64((*uint64)(p), uint64(v)))
	}
	return W(atomic.SwapUint32((*uint32)(p), uint32(v)))
}

// add adds v to the word at p and returns the new value.
func add[W Word](p unsafe.Pointer, v W) W {
	if wide[W]() {
		return W(atomic.AddUint64((*uint64)(p), uint64(v)))
	}
	return W(atomic.AddUint32((*uint32)(p), uint32(v)))
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

// compareAndSwap stores v at p if the word equals cond, and reports whether it did.
func compareAndSwap[W Word](p unsafe.Pointer, cond, v W) bool {
	if wide[W]() {
		return atomic.CompareAndSwapUint64((*uint64)(p), uint64(cond), uint64(v))
	}
	return atomic.CompareAndSwapUint32((*uint32)(p), uint32(cond), uint32(v))
}

// compareSwap is the second attempt of a compare-swap, after a first one that has not found cond. It returns the old
// value, which the first attempt does not tell, and rings the owner's doorbell.
//
//go:noinline
func compareSwap[W Word](p unsafe.Pointer, cond, v W, door *boot.State, off uint64) W {
	var old W
	if wide[W]() {
		old = W(shm.CompareSwap64((*uint64)(p), uint64(cond), uint64(v)))
	} else {
		old = W(shm.CompareSwap32((*uint32)(p), uint32(cond), uint32(v)))
	}
	door.Ring(off)
	return old
}

// apply runs an operation that the CPU has no instruction for, as a loop of compare-swaps, and returns the old value.
func apply[W Word](p unsafe.Pointer, op transport.Op, v W) W {
	if wide[W]() {
		return W(shm.Apply64((*uint64)(p), op, uint64(v), 0))
	}
	return W(shm.Apply32((*uint32)(p), op, uint32(v), 0))
}
