package pgas

// Fetching atomics that do not wait. The old value is in *dst when the context's next Quiet has returned
// without error; until then *dst must not be touched. The word is updated in the order of the context: a
// Fence orders the update before what comes after it, but does not bring the value.
//
// To another host they are gathered like puts, hundreds in a message, and their values come back
// together: many cost little more than one that waits. On this host they are done at once.
//
// To read many words of which each must be whole, AtomicSlice.FetchNB is one call, or FetchNB one for each
// word wherever they are.

import "github.com/gopgas/gopgas/pgas/transport"

// FetchNB reads the word on pe into *dst; *dst is filled after Quiet
// (OpenSHMEM 1.6, shmem_atomic_fetch_nbi).
func (a Atomic[W]) FetchNB(pe int, dst *W) {
	if a.onThisHost(pe) {
		*dst = a.Fetch(pe)
		return
	}
	a.later(pe, transport.Fetch, 0, 0, dst)
}

// SwapNB stores v into the word on pe; the old value is in *dst after Quiet
// (OpenSHMEM 1.6, shmem_atomic_swap_nbi).
func (a Atomic[W]) SwapNB(pe int, v W, dst *W) {
	if a.onThisHost(pe) {
		*dst = a.Swap(pe, v)
		return
	}
	a.later(pe, transport.Swap, v, 0, dst)
}

// CompareSwapNB stores v into the word on pe if it equals cond; the old value is in *dst after Quiet, and
// the swap happened iff that equals cond (OpenSHMEM 1.6, shmem_atomic_compare_swap_nbi).
func (a Atomic[W]) CompareSwapNB(pe int, cond, v W, dst *W) {
	if a.onThisHost(pe) {
		*dst = a.CompareSwap(pe, cond, v)
		return
	}
	a.later(pe, transport.CompareSwap, v, cond, dst)
}

// FetchAddNB adds v to the word on pe; the old value is in *dst after Quiet
// (OpenSHMEM 1.6, shmem_atomic_fetch_add_nbi).
func (a Atomic[W]) FetchAddNB(pe int, v W, dst *W) {
	if a.onThisHost(pe) {
		*dst = a.FetchAdd(pe, v)
		return
	}
	a.later(pe, transport.Add, v, 0, dst)
}

// FetchIncNB adds 1 to the word on pe; the old value is in *dst after Quiet
// (OpenSHMEM 1.6, shmem_atomic_fetch_inc_nbi).
func (a Atomic[W]) FetchIncNB(pe int, dst *W) { a.FetchAddNB(pe, 1, dst) }

// FetchAndNB stores the bitwise and of the word on pe with v; the old value is in *dst after Quiet
// (OpenSHMEM 1.6, shmem_atomic_fetch_and_nbi).
func (a Atomic[W]) FetchAndNB(pe int, v W, dst *W) { a.changeNB(pe, transport.And, v, dst) }

// FetchOrNB stores the bitwise or of the word on pe with v; the old value is in *dst after Quiet
// (OpenSHMEM 1.6, shmem_atomic_fetch_or_nbi).
func (a Atomic[W]) FetchOrNB(pe int, v W, dst *W) { a.changeNB(pe, transport.Or, v, dst) }

// FetchXorNB stores the bitwise exclusive or of the word on pe with v; the old value is in *dst after
// Quiet (OpenSHMEM 1.6, shmem_atomic_fetch_xor_nbi).
func (a Atomic[W]) FetchXorNB(pe int, v W, dst *W) { a.changeNB(pe, transport.Xor, v, dst) }

// FetchMinNB stores v into the word on pe if it is less than that; the old value is in *dst after Quiet.
// With PGAS_AMO=nic it waits all the same.
func (a Atomic[W]) FetchMinNB(pe int, v W, dst *W) { a.changeNB(pe, opMin[W](), v, dst) }

// FetchMaxNB stores v into the word on pe if it is greater than that; the old value is in *dst after
// Quiet. With PGAS_AMO=nic it waits all the same.
func (a Atomic[W]) FetchMaxNB(pe int, v W, dst *W) { a.changeNB(pe, opMax[W](), v, dst) }

func (a Atomic[W]) changeNB(pe int, op transport.Op, v W, dst *W) {
	if a.onThisHost(pe) {
		*dst = a.change(pe, op, v)
		return
	}
	a.later(pe, op, v, 0, dst)
}

// onThisHost says whether atomics on pe's words are this CPU's.
func (a Atomic[W]) onThisHost(pe int) bool {
	p, _ := a.ctx.atomicAddr(pe, a.off)
	return p != nil
}

func (a Atomic[W]) later(pe int, op transport.Op, v, cond W, dst *W) {
	a.ctx.later(pe, op, a.word(), uint64(v), uint64(cond), keptBytesOf(dst, 1))
}

// later issues a fetching atomic whose old value goes to dst.
func (c *Context) later(pe int, op transport.Op, at transport.Word, operand, cond uint64, dst []byte) {
	via, to := c.routeTo(op.String(), pe)
	via.AtomicNB(to, op, at, operand, cond, dst)
}

// FetchNB reads the first len(dst) words on pe into dst, each of them whole; dst is filled after Quiet.
// What one get of the same range brings may mix old and new halves of a word.
func (a AtomicSlice[W]) FetchNB(pe int, dst []W) {
	if len(dst) > a.n {
		misuse("AtomicSlice.FetchNB", "%d words into a range of %d: take a shorter destination or a longer range", len(dst), a.n)
	}
	for i := range dst {
		a.At(i).FetchNB(pe, &dst[i])
	}
}
