package pgas

// Remote atomic words. On this host an operation is one locked instruction on the mapped heap and a
// look at the owner's doorbell; to another it is one message that the owner's service thread executes
// with the same instructions, so both are atomic to each other (the cpu domain).
//
// One rule for all: what fetches returns the old value. A compare-swap happened iff the result equals
// cond.
//
// What an operation costs. One that returns nothing is as a put: to another host it is gathered with
// others, and a quiet completes it. One that returns the old value waits for a round trip. One whose name
// ends in NB is gathered like a put and brings its value by the next quiet, so that many share a round
// trip (atomic_nb.go). Xor, min, max and what floating-point words do have no instruction that Go offers:
// they are loops of compare-swaps at the owner of the word, and cost as much as others unless many PEs
// are at it. Where NICs execute atomics (PGAS_AMO=nic), which know nothing of min, max and floating point
// either, these loops are the initiator's: it waits for two round trips, and one more each time that
// another PE has come between, even where nothing is returned.

import (
	"context"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

const (
	opSet = transport.Set
	opAdd = transport.Add
)

// Word is every integer type that OpenSHMEM has atomics for, and every type made from one.
type Word interface {
	~int32 | ~uint32 | ~int64 | ~uint64 | ~int | ~uint | ~uintptr
}

// Float is every floating-point type that OpenSHMEM has atomics for.
type Float interface{ ~float32 | ~float64 }

// Atomic refers to an integer word of symmetric memory that is only ever accessed atomically.
//
// Operations on 4 and on 8 bytes of the same word are atomic to each other too, where the CPU executes
// them (PGAS_AMO=cpu, the default).
type Atomic[W Word] struct {
	_   [0]W // so that one cannot be converted to another type's
	ctx *Context
	off uintptr
}

// AtomicOf is element i of s as an atomic word.
func AtomicOf[W Word](s Sym[W], i int) Atomic[W] { return atomicOf(s.At(i)) }

func atomicOf[W Word](r Ref[W]) Atomic[W] { return Atomic[W]{ctx: r.ctx, off: r.off} }

// On is the same word on another context.
func (a Atomic[W]) On(c *Context) Atomic[W] {
	a.ctx.refer()
	return Atomic[W]{ctx: c, off: a.off}
}

// Fetch returns the word on pe (OpenSHMEM 1.6, shmem_atomic_fetch).
func (a Atomic[W]) Fetch(pe int) W {
	return fetchWord[W](a.ctx, a.off, pe, slowFetch)
}

// Set stores v into the word on pe; complete there after a Quiet (OpenSHMEM 1.6, shmem_atomic_set).
func (a Atomic[W]) Set(pe int, v W) {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		swap(p, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, transport.Set, v)
}

// Swap stores v into the word on pe and returns the old value (OpenSHMEM 1.6, shmem_atomic_swap).
func (a Atomic[W]) Swap(pe int, v W) W {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		old := swap(p, v)
		door.Ring(uint64(a.off))
		return old
	}
	return a.slowFetchOp(pe, transport.Swap, v, 0)
}

// CompareSwap stores v into the word on pe if it equals cond, and returns the old value: the swap
// happened iff the result equals cond (OpenSHMEM 1.6, shmem_atomic_compare_swap).
func (a Atomic[W]) CompareSwap(pe int, cond, v W) W {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		if !compareAndSwap(p, cond, v) {
			return compareSwap(p, cond, v, door, uint64(a.off))
		}
		door.Ring(uint64(a.off))
		return cond
	}
	return a.slowFetchOp(pe, transport.CompareSwap, v, cond)
}

// FetchAdd adds v to the word on pe and returns the old value. It wraps around
// (OpenSHMEM 1.6, shmem_atomic_fetch_add).
func (a Atomic[W]) FetchAdd(pe int, v W) W {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		old := add(p, v) - v
		door.Ring(uint64(a.off))
		return old
	}
	return a.slowFetchOp(pe, transport.Add, v, 0)
}

// Add adds v to the word on pe; complete there after a Quiet (OpenSHMEM 1.6, shmem_atomic_add).
func (a Atomic[W]) Add(pe int, v W) {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		add(p, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, transport.Add, v)
}

// FetchInc adds 1 to the word on pe and returns the old value
// (OpenSHMEM 1.6, shmem_atomic_fetch_inc).
func (a Atomic[W]) FetchInc(pe int) W { return a.FetchAdd(pe, 1) }

// Inc adds 1 to the word on pe; complete there after a Quiet (OpenSHMEM 1.6, shmem_atomic_inc).
func (a Atomic[W]) Inc(pe int) { a.Add(pe, 1) }

// FetchAnd stores the bitwise and of the word on pe with v, and returns the old value
// (OpenSHMEM 1.6, shmem_atomic_fetch_and).
func (a Atomic[W]) FetchAnd(pe int, v W) W {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		old := and(p, v)
		door.Ring(uint64(a.off))
		return old
	}
	return a.slowFetchOp(pe, transport.And, v, 0)
}

// And is FetchAnd without the fetch; complete after a Quiet (OpenSHMEM 1.6, shmem_atomic_and).
func (a Atomic[W]) And(pe int, v W) {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		and(p, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, transport.And, v)
}

// FetchOr stores the bitwise or of the word on pe with v, and returns the old value
// (OpenSHMEM 1.6, shmem_atomic_fetch_or).
func (a Atomic[W]) FetchOr(pe int, v W) W {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		old := or(p, v)
		door.Ring(uint64(a.off))
		return old
	}
	return a.slowFetchOp(pe, transport.Or, v, 0)
}

// Or is FetchOr without the fetch; complete after a Quiet (OpenSHMEM 1.6, shmem_atomic_or).
func (a Atomic[W]) Or(pe int, v W) {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		or(p, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, transport.Or, v)
}

// FetchXor stores the bitwise exclusive or of the word on pe with v, and returns the old value
// (OpenSHMEM 1.6, shmem_atomic_fetch_xor).
func (a Atomic[W]) FetchXor(pe int, v W) W { return a.change(pe, transport.Xor, v) }

// Xor is FetchXor without the fetch; complete after a Quiet (OpenSHMEM 1.6, shmem_atomic_xor).
func (a Atomic[W]) Xor(pe int, v W) { a.postChange(pe, transport.Xor, v) }

// FetchMin stores v into the word on pe if it is less than that, and returns the old value. It is no
// operation of OpenSHMEM. With PGAS_AMO=nic it is a loop of round trips.
func (a Atomic[W]) FetchMin(pe int, v W) W { return a.change(pe, opMin[W](), v) }

// Min is FetchMin without the fetch; complete after a Quiet. With PGAS_AMO=nic it waits all the same.
func (a Atomic[W]) Min(pe int, v W) { a.postChange(pe, opMin[W](), v) }

// FetchMax stores v into the word on pe if it is greater than that, and returns the old value. It is no
// operation of OpenSHMEM. With PGAS_AMO=nic it is a loop of round trips.
func (a Atomic[W]) FetchMax(pe int, v W) W { return a.change(pe, opMax[W](), v) }

// Max is FetchMax without the fetch; complete after a Quiet. With PGAS_AMO=nic it waits all the same.
func (a Atomic[W]) Max(pe int, v W) { a.postChange(pe, opMax[W](), v) }

func opMin[W Word]() transport.Op {
	if isSigned[W]() {
		return transport.Min
	}
	return transport.MinUnsigned
}

func opMax[W Word]() transport.Op {
	if isSigned[W]() {
		return transport.Max
	}
	return transport.MaxUnsigned
}

// WaitUntil blocks until this PE's own copy of the word compares true with v, and returns the value
// that did. Updates by atomics and signals, of any PE, wake it; plain stores need not
// (OpenSHMEM 1.6, shmem_wait_until).
func (a Atomic[W]) WaitUntil(ctx context.Context, cmp Cmp, v W) (W, error) {
	got, err := a.ctx.world("WaitUntil").waitWord(ctx, a.word(), cmp, uint64(v), isSigned[W]())
	return W(got), err
}

// WaitUntilPred is WaitUntil for a PE that stands in a queue, behind PE pe, whose copy of the word is still as
// long as it waits too; -1 if that is not known. It matters where PEs share CPUs: one that is not next lets
// others run at every look, and one that is next looks for a moment first. It is no operation of OpenSHMEM.
func (a Atomic[W]) WaitUntilPred(ctx context.Context, cmp Cmp, v W, pred int, predWaiting W) (W, error) {
	w := a.ctx.world("WaitUntilPred")
	if n := len(a.ctx.team.g.PEs); pred < -1 || pred >= n {
		misuse("WaitUntilPred", "PE %d is out of range: this %s has PEs 0 to %d, and -1 is one that is not known", pred, a.ctx.team.noun(), n-1)
	}
	c := w.n.WordCond(a.word(), cmp, uint64(v), isSigned[W]())
	if pred >= 0 {
		c = c.WithPredecessor(a.ctx.predecessorWord(pred, a.off), uint64(predWaiting))
	}
	got, err := w.awaitWord(ctx, c)
	return W(got), err
}

// Test reports whether this PE's own copy of the word compares true with v now
// (OpenSHMEM 1.6, shmem_test).
func (a Atomic[W]) Test(cmp Cmp, v W) bool {
	w := a.ctx.world("Test")
	w.n.YieldIfScheduled()
	checkCmp(cmp)
	c := w.n.WordCond(a.word(), cmp, uint64(v), isSigned[W]())
	_, ok := c.Check()
	return ok
}

func (a Atomic[W]) word() transport.Word {
	var v W
	return transport.Word{Off: a.ctx.place("atomic", a.off, unsafe.Sizeof(v)), Bytes: int(unsafe.Sizeof(v))}
}

// change is a fetching operation that the CPU has no instruction for.
func (a Atomic[W]) change(pe int, op transport.Op, v W) W {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		old := apply(p, op, v)
		door.Ring(uint64(a.off))
		return old
	}
	return a.slowFetchOp(pe, op, v, 0)
}

func (a Atomic[W]) postChange(pe int, op transport.Op, v W) {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		apply(p, op, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, op, v)
}

//go:noinline
func (a Atomic[W]) slowFetchOp(pe int, op transport.Op, v, cond W) W {
	return W(a.ctx.mustAtomic(pe, op, a.word(), uint64(v), uint64(cond)))
}

//go:noinline
func (a Atomic[W]) post(pe int, op transport.Op, v W) {
	via, to := a.ctx.routeTo(op.String(), pe)
	via.Post(to, op, a.word(), uint64(v))
}

// slowFetch is the fetch of a word of n bytes that is not mapped here.
//
//go:noinline
func slowFetch(c *Context, pe int, off uintptr, n uintptr) uint64 {
	return c.mustAtomic(pe, transport.Fetch, transport.Word{Off: c.place("Fetch", off, n), Bytes: int(n)}, 0, 0)
}

// mustAtomic runs a fetching atomic or panics: like a blocking get, it has nowhere to return an error.
func (c *Context) mustAtomic(pe int, op transport.Op, at transport.Word, operand, cond uint64) uint64 {
	via, to := c.routeTo(op.String(), pe)
	c.w.n.Block(node.Blocked{Op: boot.InAtomic, Peer: to, Seq: at.Off})
	old, err := via.Atomic(c.w.n.Ctx, to, op, at, operand, cond)
	c.w.n.Unblock()
	if err != nil {
		panic(err)
	}
	return old
}

// firstOf returns the address of the first of values.
func firstOf[W Word](values []W) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(values)) }
