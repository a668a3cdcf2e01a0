package pgas

// Remote atomic words. On this host an operation is one locked instruction on the mapped heap and a
// look at the owner's doorbell; to another it is one message that the owner's service thread executes
// with the same instructions, so both are atomic to each other (the cpu domain).
//
// One rule for all: what fetches returns the old value. A compare-swap happened iff the result equals
// cond.

import (
	"context"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

const (
	opSet = transport.Set
	opAdd = transport.Add

	opFetch = transport.Fetch
)

// Word is every integer type that OpenSHMEM has atomics for, and every type made from one.
type Word interface {
	~int32 | ~uint32 | ~int64 | ~uint64 | ~int | ~uint | ~uintptr
}

// Float is every floating-point type that OpenSHMEM has atomics for.
type Float interface{ ~float32 | ~float64 }

// Atomic refers to an integer word of symmetric memory that is only ever accessed atomically.
type Atomic[W Word] struct {
	ctx *Context
	off uintptr
}

// AtomicOf is element i of s as an atomic word.
func AtomicOf[W Word](s Sym[W], i int) Atomic[W] {
	r := s.At(i)
	return Atomic[W](r)
}

// FieldAtomic is the atomic field at byte offset off of the record that r refers to. It is for
// generated code.
func FieldAtomic[W Word, T any](r Ref[T], off uintptr) Atomic[W] {
	return Atomic[W]{r.ctx, r.off + off}
}

// On is the same word on another context.
func (a Atomic[W]) On(c *Context) Atomic[W] { return Atomic[W]{c, a.off} }

// Fetch returns the word on pe.
func (a Atomic[W]) Fetch(pe int) W {
	if p, _ := a.ctx.wordAt(pe, a.off); p != nil {
		return load[W](p)
	}
	return a.far(pe, transport.Fetch, 0, 0)
}

// Set stores v into the word on pe; complete there after a Quiet.
func (a Atomic[W]) Set(pe int, v W) {
	if p, door := a.ctx.wordAt(pe, a.off); p != nil {
		swap(p, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, transport.Set, v)
}

// Swap stores v into the word on pe and returns the old value.
func (a Atomic[W]) Swap(pe int, v W) W {
	if p, door := a.ctx.wordAt(pe, a.off); p != nil {
		old := swap(p, v)
		door.Ring(uint64(a.off))
		return old
	}
	return a.far(pe, transport.Swap, v, 0)
}

// CompareSwap stores v into the word on pe if it equals cond, and returns the old value: the swap
// happened iff the result equals cond.
func (a Atomic[W]) CompareSwap(pe int, cond, v W) W {
	if p, door := a.ctx.wordAt(pe, a.off); p != nil {
		if !compareAndSwap(p, cond, v) {
			return compareSwap(p, cond, v, door, uint64(a.off))
		}
		door.Ring(uint64(a.off))
		return cond
	}
	return a.far(pe, transport.CompareSwap, v, cond)
}

// FetchAdd adds v to the word on pe and returns the old value.
func (a Atomic[W]) FetchAdd(pe int, v W) W {
	if p, door := a.ctx.wordAt(pe, a.off); p != nil {
		old := add(p, v) - v
		door.Ring(uint64(a.off))
		return old
	}
	return a.far(pe, transport.Add, v, 0)
}

// Add adds v to the word on pe; complete there after a Quiet.
func (a Atomic[W]) Add(pe int, v W) {
	if p, door := a.ctx.wordAt(pe, a.off); p != nil {
		add(p, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, transport.Add, v)
}

// FetchInc adds 1 to the word on pe and returns the old value.
func (a Atomic[W]) FetchInc(pe int) W { return a.FetchAdd(pe, 1) }

// Inc adds 1 to the word on pe; complete there after a Quiet.
func (a Atomic[W]) Inc(pe int) { a.Add(pe, 1) }

// FetchAnd stores the bitwise and of the word on pe with v, and returns the old value.
func (a Atomic[W]) FetchAnd(pe int, v W) W { return a.bits(pe, transport.And, v) }

// And is FetchAnd without the fetch; complete after a Quiet.
func (a Atomic[W]) And(pe int, v W) { a.postBits(pe, transport.And, v) }

// FetchOr stores the bitwise or of the word on pe with v, and returns the old value.
func (a Atomic[W]) FetchOr(pe int, v W) W { return a.bits(pe, transport.Or, v) }

// Or is FetchOr without the fetch; complete after a Quiet.
func (a Atomic[W]) Or(pe int, v W) { a.postBits(pe, transport.Or, v) }

// FetchXor stores the bitwise exclusive or of the word on pe with v, and returns the old value.
func (a Atomic[W]) FetchXor(pe int, v W) W { return a.bits(pe, transport.Xor, v) }

// Xor is FetchXor without the fetch; complete after a Quiet.
func (a Atomic[W]) Xor(pe int, v W) { a.postBits(pe, transport.Xor, v) }

// WaitUntil blocks until this PE's own copy of the word compares true with v, and returns the value
// that did. Updates by atomics and signals, of any PE, wake it; plain stores need not
// (OpenSHMEM 1.6, shmem_wait_until).
func (a Atomic[W]) WaitUntil(ctx context.Context, cmp Cmp, v W) (W, error) {
	got, err := a.ctx.w.waitWord(ctx, a.word(), cmp, uint64(v), isSigned[W]())
	return W(got), err
}

// Test reports whether this PE's own copy of the word compares true with v now.
func (a Atomic[W]) Test(cmp Cmp, v W) bool {
	w := a.ctx.w
	c := w.wordCond(a.word(), cmp, uint64(v), isSigned[W]())
	_, ok := c.check()
	return ok
}

func (a Atomic[W]) word() transport.Word {
	var v W
	return transport.Word{Off: uint64(a.off), Bytes: int(unsafe.Sizeof(v))}
}

func (a Atomic[W]) bits(pe int, op transport.Op, v W) W {
	if p, door := a.ctx.wordAt(pe, a.off); p != nil {
		old := apply(p, op, v)
		door.Ring(uint64(a.off))
		return old
	}
	return a.far(pe, op, v, 0)
}

func (a Atomic[W]) postBits(pe int, op transport.Op, v W) {
	if p, door := a.ctx.wordAt(pe, a.off); p != nil {
		apply(p, op, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, op, v)
}

//go:noinline
func (a Atomic[W]) far(pe int, op transport.Op, v, cond W) W {
	return W(a.ctx.mustAtomic(pe, op, a.word(), uint64(v), uint64(cond)))
}

//go:noinline
func (a Atomic[W]) post(pe int, op transport.Op, v W) {
	via, to := a.ctx.far(op.String(), pe)
	via.Post(to, op, a.word(), uint64(v))
}

// mustAtomic runs a fetching atomic or panics: like a blocking get, it has nowhere to return an error.
func (c *Context) mustAtomic(pe int, op transport.Op, at transport.Word, operand, cond uint64) uint64 {
	via, to := c.far(op.String(), pe)
	c.w.block(blockedIn{op: boot.InAtomic, peer: to, seq: at.Off})
	old, err := via.Atomic(c.w.ctx, to, op, at, operand, cond)
	c.w.unblock()
	if err != nil {
		panic(err)
	}
	return old
}

// AtomicFloat refers to a floating-point word of symmetric memory that is only ever accessed
// atomically. Values are compared and exchanged by their bits.
type AtomicFloat[F Float] struct {
	ctx *Context
	off uintptr
}

// AtomicFloatOf is element i of s as an atomic word.
func AtomicFloatOf[F Float](s Sym[F], i int) AtomicFloat[F] {
	r := s.At(i)
	return AtomicFloat[F](r)
}

// FieldAtomicFloat is the atomic field at byte offset off of the record that r refers to. It is for
// generated code.
func FieldAtomicFloat[F Float, T any](r Ref[T], off uintptr) AtomicFloat[F] {
	return AtomicFloat[F]{r.ctx, r.off + off}
}

// On is the same word on another context.
func (a AtomicFloat[F]) On(c *Context) AtomicFloat[F] { return AtomicFloat[F]{c, a.off} }

// Fetch returns the word on pe.
func (a AtomicFloat[F]) Fetch(pe int) F {
	if wide[F]() {
		return fromBits[F](a.w64().Fetch(pe))
	}
	return fromBits[F](uint64(a.w32().Fetch(pe)))
}

// Set stores v into the word on pe; complete there after a Quiet.
func (a AtomicFloat[F]) Set(pe int, v F) {
	if wide[F]() {
		a.w64().Set(pe, toBits(v))
		return
	}
	a.w32().Set(pe, uint32(toBits(v)))
}

// Swap stores v into the word on pe and returns the old value.
func (a AtomicFloat[F]) Swap(pe int, v F) F {
	if wide[F]() {
		return fromBits[F](a.w64().Swap(pe, toBits(v)))
	}
	return fromBits[F](uint64(a.w32().Swap(pe, uint32(toBits(v)))))
}

// CompareSwap stores v into the word on pe if its bits are those of cond, and returns the old value.
func (a AtomicFloat[F]) CompareSwap(pe int, cond, v F) F {
	if wide[F]() {
		return fromBits[F](a.w64().CompareSwap(pe, toBits(cond), toBits(v)))
	}
	return fromBits[F](uint64(a.w32().CompareSwap(pe, uint32(toBits(cond)), uint32(toBits(v)))))
}

func (a AtomicFloat[F]) w64() Atomic[uint64] { return Atomic[uint64](a) }
func (a AtomicFloat[F]) w32() Atomic[uint32] { return Atomic[uint32](a) }

func wide[F any]() bool {
	var v F
	return unsafe.Sizeof(v) == 8
}

func toBits[F Float](v F) uint64 {
	if wide[F]() {
		return math.Float64bits(float64(v))
	}
	return uint64(math.Float32bits(float32(v)))
}

func fromBits[F Float](b uint64) F {
	if wide[F]() {
		return F(math.Float64frombits(b))
	}
	return F(math.Float32frombits(uint32(b)))
}

func isSigned[W Word]() bool { return ^W(0) < 0 }

// The size of W is a constant in each instance, so one branch of each of these is compiled.

func load[W Word](p unsafe.Pointer) W {
	if wide[W]() {
		return W(atomic.LoadUint64((*uint64)(p)))
	}
	return W(atomic.LoadUint32((*uint32)(p)))
}

func swap[W Word](p unsafe.Pointer, v W) W {
	if wide[W]() {
		return W(atomic.SwapUint64((*uint64)(p), uint64(v)))
	}
	return W(atomic.SwapUint32((*uint32)(p), uint32(v)))
}

func add[W Word](p unsafe.Pointer, v W) W {
	if wide[W]() {
		return W(atomic.AddUint64((*uint64)(p), uint64(v)))
	}
	return W(atomic.AddUint32((*uint32)(p), uint32(v)))
}

func compareAndSwap[W Word](p unsafe.Pointer, cond, v W) bool {
	if wide[W]() {
		return atomic.CompareAndSwapUint64((*uint64)(p), uint64(cond), uint64(v))
	}
	return atomic.CompareAndSwapUint32((*uint32)(p), uint32(cond), uint32(v))
}

// compareSwap finds out what the word was when the first attempt did not find cond.
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

func apply[W Word](p unsafe.Pointer, op transport.Op, v W) W {
	if wide[W]() {
		return W(shm.Apply64((*uint64)(p), op, uint64(v), 0))
	}
	return W(shm.Apply32((*uint32)(p), op, uint32(v), 0))
}
