package pgas

// Atomic words that hold floating-point numbers. They are fetched, stored and exchanged by their bits. Add, min and
// max are extensions of OpenSHMEM; atomic_unsafe.go tells their cost.

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// AtomicFloat refers to a floating-point word of symmetric memory that is only ever accessed atomically. Completion,
// order and panics are those of Atomic.
type AtomicFloat[F Float] struct {
	_   [0]F // keeps an AtomicFloat from being converted to that of another type
	ctx *Context
	off uintptr
}

// AtomicFloatOf returns element i of s as an atomic word. It panics with *UsageError if i is out of range.
func AtomicFloatOf[F Float](s Sym[F], i int) AtomicFloat[F] {
	r := s.At(i)
	return AtomicFloat[F]{ctx: r.ctx, off: r.off}
}

// On returns the same word on context c, whose team its PE numbers then count. It panics with *UsageError if a is
// zero.
func (a AtomicFloat[F]) On(c *Context) AtomicFloat[F] {
	a.ctx.refer()
	return AtomicFloat[F]{ctx: c, off: a.off}
}

// Fetch returns the word on pe. It panics with *PeerError if pe is lost, and with *UsageError as Atomic says
// (OpenSHMEM 1.6, shmem_atomic_fetch).
func (a AtomicFloat[F]) Fetch(pe int) F {
	if wide[F]() {
		return fromBits[F](a.w64().Fetch(pe))
	}
	return fromBits[F](uint64(a.w32().Fetch(pe)))
}

// Set stores v into the word on pe. It is complete at pe after a Quiet. It panics with *UsageError as Atomic says
// (OpenSHMEM 1.6, shmem_atomic_set).
func (a AtomicFloat[F]) Set(pe int, v F) {
	if wide[F]() {
		a.w64().Set(pe, toBits(v))
		return
	}
	a.w32().Set(pe, uint32(toBits(v)))
}

// Swap stores v into the word on pe and returns the old value. It panics as Fetch does (OpenSHMEM 1.6,
// shmem_atomic_swap).
func (a AtomicFloat[F]) Swap(pe int, v F) F { return fromBits[F](a.fetching(pe, transport.Swap, v)) }

// CompareSwap stores v into the word on pe if the word's bits are those of cond, and returns the old value. By their
// bits 0 and -0 differ, and a NaN equals itself. It panics as Fetch does.
func (a AtomicFloat[F]) CompareSwap(pe int, cond, v F) F {
	if wide[F]() {
		return fromBits[F](a.w64().CompareSwap(pe, toBits(cond), toBits(v)))
	}
	return fromBits[F](uint64(a.w32().CompareSwap(pe, uint32(toBits(cond)), uint32(toBits(v)))))
}

// FetchAdd adds v to the word on pe and returns the old value. The last bits of the sum of several additions depend
// on their order. It panics as Fetch does. With PGAS_AMO=nic it is a loop of round trips.
func (a AtomicFloat[F]) FetchAdd(pe int, v F) F {
	return fromBits[F](a.fetching(pe, transport.AddFloat, v))
}

// Add adds v to the word on pe. It is complete at pe after a Quiet. It panics as Set does. With PGAS_AMO=nic it waits
// for round trips, as FetchAdd does.
func (a AtomicFloat[F]) Add(pe int, v F) { a.posted(pe, transport.AddFloat, v) }

// FetchMin stores the lesser of v and the word on pe into the word, and returns the old value. A NaN stays, and -0 is
// less than 0, as in Go's min. It panics as Fetch does. With PGAS_AMO=nic it is a loop of round trips.
func (a AtomicFloat[F]) FetchMin(pe int, v F) F {
	return fromBits[F](a.fetching(pe, transport.MinFloat, v))
}

// Min stores the lesser of v and the word on pe into the word, as FetchMin does. It is complete at pe after a Quiet.
// It panics as Set does. With PGAS_AMO=nic it waits for round trips.
func (a AtomicFloat[F]) Min(pe int, v F) { a.posted(pe, transport.MinFloat, v) }

// FetchMax stores the greater of v and the word on pe into the word, and returns the old value. A NaN stays, and 0 is
// greater than -0, as in Go's max. It panics as Fetch does. With PGAS_AMO=nic it is a loop of round trips.
func (a AtomicFloat[F]) FetchMax(pe int, v F) F {
	return fromBits[F](a.fetching(pe, transport.MaxFloat, v))
}

// Max stores the greater of v and the word on pe into the word, as FetchMax does. It is complete at pe after a Quiet.
// It panics as Set does. With PGAS_AMO=nic it waits for round trips.
func (a AtomicFloat[F]) Max(pe int, v F) { a.posted(pe, transport.MaxFloat, v) }

// FetchNB reads the word on pe into *dst. *dst is filled after Quiet, and the program must not touch it before. It
// panics with *UsageError as Atomic says; the Quiet reports a lost PE (OpenSHMEM 1.6, shmem_atomic_fetch_nbi).
func (a AtomicFloat[F]) FetchNB(pe int, dst *F) { a.later(pe, transport.Fetch, 0, 0, dst) }

// SwapNB stores v into the word on pe; the old value is in *dst after Quiet. It fails as FetchNB does (OpenSHMEM 1.6,
// shmem_atomic_swap_nbi).
func (a AtomicFloat[F]) SwapNB(pe int, v F, dst *F) { a.later(pe, transport.Swap, v, 0, dst) }

// CompareSwapNB is CompareSwap whose old value is in *dst after Quiet. It fails as FetchNB does.
func (a AtomicFloat[F]) CompareSwapNB(pe int, cond, v F, dst *F) {
	a.later(pe, transport.CompareSwap, v, cond, dst)
}

// FetchAddNB is FetchAdd whose old value is in *dst after Quiet. It fails as FetchNB does. With PGAS_AMO=nic it waits
// for round trips.
func (a AtomicFloat[F]) FetchAddNB(pe int, v F, dst *F) { a.later(pe, transport.AddFloat, v, 0, dst) }

// FetchMinNB is FetchMin whose old value is in *dst after Quiet. It fails as FetchNB does. With PGAS_AMO=nic it waits
// for round trips.
func (a AtomicFloat[F]) FetchMinNB(pe int, v F, dst *F) { a.later(pe, transport.MinFloat, v, 0, dst) }

// FetchMaxNB is FetchMax whose old value is in *dst after Quiet. It fails as FetchNB does. With PGAS_AMO=nic it waits
// for round trips.
func (a AtomicFloat[F]) FetchMaxNB(pe int, v F, dst *F) { a.later(pe, transport.MaxFloat, v, 0, dst) }

// WaitUntil blocks until this PE's own copy of the word compares true with v, as a number, and returns the value that
// did. Atomics of any PE wake the waiter; plain stores need not. Only NE compares true with a NaN. Its errors and
// panics are those of Atomic.WaitUntil.
func (a AtomicFloat[F]) WaitUntil(ctx context.Context, cmp Cmp, v F) (F, error) {
	w, at := a.ctx.world("WaitUntil"), a.word()
	if w.refuses(ctx) {
		return 0, w.refusal(ctx, "waiting for "+w.n.WordName(at.Off))
	}
	for {
		checkCmp(cmp)
		w.n.AboutToRead()
		bits := a.own()
		got := fromBits[F](bits)
		if node.Compare(cmp, got, v) {
			return got, nil
		}
		// A Cond compares bits, so this wait ends at every change, and the loop compares the number.
		change := w.n.WordCond(at, NE, bits, false)
		if _, err := w.n.Await(ctx, change, node.Blocked{Op: boot.InWait, Peer: -1, Seq: at.Off}); err != nil {
			return got, fmt.Errorf("waiting for %s to be %s %v (it is %v)%s: %w", w.n.WordName(at.Off), cmp, v, got, callsite.At(), err)
		}
	}
}

// Test reports, without waiting, whether this PE's own copy of the word compares true with v, as a number. It panics
// with *UsageError if cmp is no comparison.
func (a AtomicFloat[F]) Test(cmp Cmp, v F) bool {
	a.ctx.world("Test").n.YieldIfScheduled()
	checkCmp(cmp)
	return node.Compare(cmp, fromBits[F](a.own()), v)
}

// own returns the bits of this PE's own copy.
func (a AtomicFloat[F]) own() uint64 {
	c := a.ctx.w.n.WordCond(a.word(), EQ, 0, false)
	bits, _ := c.Check()
	a.ctx.w.looked(a.ctx.w.n.Ctx, c.Word.Off, uint64(c.Word.Bytes))
	return bits
}

// fetching runs op and returns the old value's bits.
func (a AtomicFloat[F]) fetching(pe int, op transport.Op, v F) uint64 {
	if wide[F]() {
		return a.w64().change(pe, op, toBits(v))
	}
	return uint64(a.w32().change(pe, op, uint32(toBits(v))))
}

// posted runs op without the old value.
func (a AtomicFloat[F]) posted(pe int, op transport.Op, v F) {
	if wide[F]() {
		a.w64().postChange(pe, op, toBits(v))
		return
	}
	a.w32().postChange(pe, op, uint32(toBits(v)))
}

// later runs op; the old value is in *dst after Quiet.
func (a AtomicFloat[F]) later(pe int, op transport.Op, v, cond F, dst *F) {
	switch {
	case !a.w64().onThisHost(pe):
		a.ctx.later(pe, op, a.word(), toBits(v), toBits(cond), keptBytesOf(dst, 1))
	case op == transport.CompareSwap:
		*dst = a.CompareSwap(pe, cond, v)
	default:
		*dst = fromBits[F](a.fetching(pe, op, v))
	}
}

// word returns the offset and the size of the word, as transports take them.
func (a AtomicFloat[F]) word() transport.Word {
	var v F
	return transport.Word{Off: a.ctx.place("atomic", a.off, unsafe.Sizeof(v)), Bytes: int(unsafe.Sizeof(v))}
}

// w64 returns the word as an integer of 8 bytes.
func (a AtomicFloat[F]) w64() Atomic[uint64] { return Atomic[uint64]{ctx: a.ctx, off: a.off} }

// w32 returns the word as an integer of 4 bytes.
func (a AtomicFloat[F]) w32() Atomic[uint32] { return Atomic[uint32]{ctx: a.ctx, off: a.off} }

// toBits returns the bits of v in the low bytes.
func toBits[F Float](v F) uint64 {
	if wide[F]() {
		return math.Float64bits(float64(v))
	}
	return uint64(math.Float32bits(float32(v)))
}

// fromBits returns the number of which b has the bits.
func fromBits[F Float](b uint64) F {
	if wide[F]() {
		return F(math.Float64frombits(b))
	}
	return F(math.Float32frombits(uint32(b)))
}
