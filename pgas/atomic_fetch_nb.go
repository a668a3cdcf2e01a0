package pgas

// Fetching atomics that do not wait. The old value is in *dst when the next Quiet of the context has returned without
// error; until then the program must not touch *dst. The update takes its place in the order of the context: a Fence
// orders it before later operations, but does not bring the value.
//
// To another host they are gathered like puts, hundreds in a message, and their values come back together: many cost
// little more than one that waits. On a word of this host an operation is complete when it returns.
//
// A program that reads many words, each of which must be whole, calls AtomicSlice.FetchNB for a range, or FetchNB for
// each word.

import (
	"github.com/gopgas/gopgas/pgas/transport"

	"github.com/gopgas/gopgas/internal/plural"
)

// FetchNB reads the word on pe into *dst; *dst is filled after Quiet. It does not wait for a remote word, and so does
// not panic with *PeerError: the Quiet reports a lost PE. It panics with *UsageError as Atomic says (OpenSHMEM 1.6,
// shmem_atomic_fetch_nbi).
func (a Atomic[W]) FetchNB(pe int, dst *W) {
	if a.onThisHost(pe) {
		*dst = a.Fetch(pe)
		return
	}
	a.later(pe, transport.Fetch, 0, 0, dst)
}

// SwapNB stores v into the word on pe; the old value is in *dst after Quiet. It fails as FetchNB does (OpenSHMEM 1.6,
// shmem_atomic_swap_nbi).
func (a Atomic[W]) SwapNB(pe int, v W, dst *W) {
	if a.onThisHost(pe) {
		*dst = a.Swap(pe, v)
		return
	}
	a.later(pe, transport.Swap, v, 0, dst)
}

// CompareSwapNB stores v into the word on pe if the word equals cond. The old value is in *dst after Quiet; v has
// been stored if and only if the old value equals cond. It fails as FetchNB does (OpenSHMEM 1.6,
// shmem_atomic_compare_swap_nbi).
func (a Atomic[W]) CompareSwapNB(pe int, cond, v W, dst *W) {
	if a.onThisHost(pe) {
		*dst = a.CompareSwap(pe, cond, v)
		return
	}
	a.later(pe, transport.CompareSwap, v, cond, dst)
}

// FetchAddNB adds v to the word on pe; the old value is in *dst after Quiet. It fails as FetchNB does (OpenSHMEM 1.6,
// shmem_atomic_fetch_add_nbi).
func (a Atomic[W]) FetchAddNB(pe int, v W, dst *W) {
	if a.onThisHost(pe) {
		*dst = a.FetchAdd(pe, v)
		return
	}
	a.later(pe, transport.Add, v, 0, dst)
}

// FetchIncNB adds 1 to the word on pe; the old value is in *dst after Quiet. It fails as FetchNB does (OpenSHMEM 1.6,
// shmem_atomic_fetch_inc_nbi).
func (a Atomic[W]) FetchIncNB(pe int, dst *W) { a.FetchAddNB(pe, 1, dst) }

// FetchAndNB stores the bitwise and of the word on pe with v; the old value is in *dst after Quiet. It fails as
// FetchNB does (OpenSHMEM 1.6, shmem_atomic_fetch_and_nbi).
func (a Atomic[W]) FetchAndNB(pe int, v W, dst *W) { a.changeNB(pe, transport.And, v, dst) }

// FetchOrNB stores the bitwise or of the word on pe with v; the old value is in *dst after Quiet. It fails as FetchNB
// does (OpenSHMEM 1.6, shmem_atomic_fetch_or_nbi).
func (a Atomic[W]) FetchOrNB(pe int, v W, dst *W) { a.changeNB(pe, transport.Or, v, dst) }

// FetchXorNB stores the bitwise exclusive or of the word on pe with v; the old value is in *dst after Quiet. It fails
// as FetchNB does (OpenSHMEM 1.6, shmem_atomic_fetch_xor_nbi).
func (a Atomic[W]) FetchXorNB(pe int, v W, dst *W) { a.changeNB(pe, transport.Xor, v, dst) }

// FetchMinNB stores the lesser of v and the word on pe into the word; the old value is in *dst after Quiet. It fails
// as FetchNB does. With PGAS_AMO=nic it waits for round trips. It is an extension of OpenSHMEM.
func (a Atomic[W]) FetchMinNB(pe int, v W, dst *W) { a.changeNB(pe, opMin[W](), v, dst) }

// FetchMaxNB stores the greater of v and the word on pe into the word; the old value is in *dst after Quiet. It fails
// as FetchNB does. With PGAS_AMO=nic it waits for round trips. It is an extension of OpenSHMEM.
func (a Atomic[W]) FetchMaxNB(pe int, v W, dst *W) { a.changeNB(pe, opMax[W](), v, dst) }

// changeNB is later for a word of any host.
func (a Atomic[W]) changeNB(pe int, op transport.Op, v W, dst *W) {
	if a.onThisHost(pe) {
		*dst = a.change(pe, op, v)
		return
	}
	a.later(pe, op, v, 0, dst)
}

// onThisHost reports whether this PE's CPU executes atomics on pe's words.
func (a Atomic[W]) onThisHost(pe int) bool {
	p, _ := a.ctx.atomicAddr(pe, a.off)
	return p != nil
}

// later issues a fetching atomic through the transport; the old value is in *dst after Quiet.
func (a Atomic[W]) later(pe int, op transport.Op, v, cond W, dst *W) {
	a.ctx.later(pe, op, a.word(), uint64(v), uint64(cond), keptBytesOf(dst, 1))
}

// later issues a fetching atomic through the transport; the bytes of the old value are in dst after Quiet.
func (c *Context) later(pe int, op transport.Op, at transport.Word, operand, cond uint64, dst []byte) {
	via, to := c.routeTo(op.String(), pe)
	via.AtomicNB(to, op, at, operand, cond, dst)
}

// FetchNB reads the first len(dst) words on pe into dst, each of them whole; dst is filled after Quiet. A get of the
// same range may mix old and new halves of a word. It panics with *UsageError if dst is longer than the range, and as
// Atomic.FetchNB does.
func (a AtomicSlice[W]) FetchNB(pe int, dst []W) {
	if len(dst) > a.n {
		misuse("AtomicSlice.FetchNB", "%s into a range of %d: take a shorter destination or a longer range", plural.Count(len(dst), "word"), a.n)
	}
	for i := range dst {
		a.At(i).FetchNB(pe, &dst[i])
	}
}
