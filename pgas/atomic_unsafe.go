package pgas

// Remote atomic words. On a word of this host an operation is one locked instruction on the mapped heap, and a test
// of the owner's doorbell. To another host it is one message that the owner's service thread executes with the same
// instructions. So local and remote operations are atomic to each other (the cpu domain).
//
// One rule holds for all: what fetches returns the old value. A compare-swap has stored its value if and only if the
// result equals cond.
//
// What an operation costs. An operation that returns nothing is like a put: to another host it is gathered with
// others, and a Quiet completes it. An operation that returns the old value waits for a round trip. An operation
// whose name ends in NB is gathered like a put, and its value is there after the next Quiet, so that many share a
// round trip (atomic_fetch_nb.go). Xor, min, max and the arithmetic of floating-point words have no instruction that
// Go offers. They are loops of compare-swaps at the owner of the word, and cost as much as the others unless many PEs
// update the word. NICs that execute atomics (PGAS_AMO=nic) have no min, max and floating point either. There the
// initiator runs the loop: it waits for two round trips, and for one more each time that another PE has changed the
// word in between, even where nothing is returned.

import (
	"context"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

const (
	opSet = transport.Set
	opAdd = transport.Add
)

// Word is the constraint of the integer types that OpenSHMEM has atomics for, and of every type made from one.
type Word interface {
	~int32 | ~uint32 | ~int64 | ~uint64 | ~int | ~uint | ~uintptr
}

// Float is the constraint of the floating-point types that OpenSHMEM has atomics for, and of every type made from
// one.
type Float interface{ ~float32 | ~float64 }

// Atomic refers to an integer word of symmetric memory that is only ever accessed atomically.
//
// Operations on 4 and on 8 bytes of the same word are atomic to each other too, where the CPU executes them
// (PGAS_AMO=cpu, the default).
//
// An operation that returns nothing is complete locally when it returns, and complete and visible at pe after a Quiet
// of its context; a Fence orders it. That Quiet reports a lost PE. An operation that fetches waits for the old value;
// it has no error result, so it panics with *PeerError if pe is lost. All operations panic with *UsageError if pe is
// out of range, if the context is closed, or if a is zero. (Fetch, Set, Swap, CompareSwap, FetchAdd, Add, FetchInc and
// Inc of a zero Atomic are nil dereferences, which Main reports as a *UsageError.)
type Atomic[W Word] struct {
	_   [0]W // keeps an Atomic from being converted to that of another type
	ctx *Context
	off uintptr
}

// AtomicOf returns element i of s as an atomic word. It panics with *UsageError if i is out of range.
func AtomicOf[W Word](s Sym[W], i int) Atomic[W] { return atomicOf(s.At(i)) }

// atomicOf returns the element that r refers to as an atomic word.
func atomicOf[W Word](r Ref[W]) Atomic[W] { return Atomic[W]{ctx: r.ctx, off: r.off} }

// On returns the same word on context c, whose team its PE numbers then count. It panics with *UsageError if a is
// zero.
func (a Atomic[W]) On(c *Context) Atomic[W] {
	a.ctx.refer()
	return Atomic[W]{ctx: c, off: a.off}
}

// Fetch returns the word on pe. It panics with *PeerError if pe is lost, and with *UsageError as Atomic says
// (OpenSHMEM 1.6, shmem_atomic_fetch).
func (a Atomic[W]) Fetch(pe int) W {
	return fetchWord[W](a.ctx, a.off, pe, slowFetch)
}

// Set stores v into the word on pe. It is complete at pe after a Quiet. It panics with *UsageError as Atomic says
// (OpenSHMEM 1.6, shmem_atomic_set).
func (a Atomic[W]) Set(pe int, v W) {
	setWord(a.ctx, a.off, uintptr(pe)-unsafe.Sizeof(v)<<wordSizeShift, uint64(v), slowSet)
}

// Swap stores v into the word on pe and returns the old value. It panics with *PeerError if pe is lost, and with
// *UsageError as Atomic says (OpenSHMEM 1.6, shmem_atomic_swap).
func (a Atomic[W]) Swap(pe int, v W) W {
	return W(swapWord(a.ctx, a.off, uintptr(pe)-unsafe.Sizeof(v)<<wordSizeShift, uint64(v), slowSwap))
}

// CompareSwap stores v into the word on pe if the word equals cond, and returns the old value. It has stored v if and
// only if the result equals cond. It panics with *PeerError if pe is lost, and with *UsageError as Atomic says
// (OpenSHMEM 1.6, shmem_atomic_compare_swap).
func (a Atomic[W]) CompareSwap(pe int, cond, v W) W {
	return W(compareSwapWord(a.ctx, a.off, uintptr(pe)-unsafe.Sizeof(v)<<wordSizeShift, uint64(cond), uint64(v), slowCompareSwap))
}

// FetchAdd adds v to the word on pe, with wrap-around, and returns the old value. It panics with *PeerError if pe is
// lost, and with *UsageError as Atomic says (OpenSHMEM 1.6, shmem_atomic_fetch_add).
func (a Atomic[W]) FetchAdd(pe int, v W) W {
	return W(fetchAddWord(a.ctx, a.off, uintptr(pe)-unsafe.Sizeof(v)<<wordSizeShift, uint64(v), slowFetchAdd))
}

// Add adds v to the word on pe, with wrap-around. It is complete at pe after a Quiet. It panics with *UsageError as
// Atomic says (OpenSHMEM 1.6, shmem_atomic_add).
func (a Atomic[W]) Add(pe int, v W) {
	addWord(a.ctx, a.off, uintptr(pe)-unsafe.Sizeof(v)<<wordSizeShift, uint64(v), slowAdd)
}

// FetchInc adds 1 to the word on pe and returns the old value. It panics as FetchAdd does (OpenSHMEM 1.6,
// shmem_atomic_fetch_inc).
func (a Atomic[W]) FetchInc(pe int) W {
	return W(fetchAddWord(a.ctx, a.off, uintptr(pe)-unsafe.Sizeof(W(0))<<wordSizeShift, 1, slowFetchAdd))
}

// Inc adds 1 to the word on pe. It is complete at pe after a Quiet. It panics as Add does (OpenSHMEM 1.6,
// shmem_atomic_inc).
func (a Atomic[W]) Inc(pe int) {
	addWord(a.ctx, a.off, uintptr(pe)-unsafe.Sizeof(W(0))<<wordSizeShift, 1, slowAdd)
}

// FetchAnd stores the bitwise and of the word on pe with v, and returns the old value. It panics as FetchAdd does
// (OpenSHMEM 1.6, shmem_atomic_fetch_and).
func (a Atomic[W]) FetchAnd(pe int, v W) W {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		old := and(p, v)
		door.Ring(uint64(a.off))
		return old
	}
	return a.slowFetchOp(pe, transport.And, v, 0)
}

// And stores the bitwise and of the word on pe with v. It is complete at pe after a Quiet. It panics as Add does
// (OpenSHMEM 1.6, shmem_atomic_and).
func (a Atomic[W]) And(pe int, v W) {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		and(p, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, transport.And, v)
}

// FetchOr stores the bitwise or of the word on pe with v, and returns the old value. It panics as FetchAdd does
// (OpenSHMEM 1.6, shmem_atomic_fetch_or).
func (a Atomic[W]) FetchOr(pe int, v W) W {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		old := or(p, v)
		door.Ring(uint64(a.off))
		return old
	}
	return a.slowFetchOp(pe, transport.Or, v, 0)
}

// Or stores the bitwise or of the word on pe with v. It is complete at pe after a Quiet. It panics as Add does
// (OpenSHMEM 1.6, shmem_atomic_or).
func (a Atomic[W]) Or(pe int, v W) {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		or(p, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, transport.Or, v)
}

// FetchXor stores the bitwise exclusive or of the word on pe with v, and returns the old value. It panics as FetchAdd
// does (OpenSHMEM 1.6, shmem_atomic_fetch_xor).
func (a Atomic[W]) FetchXor(pe int, v W) W { return a.change(pe, transport.Xor, v) }

// Xor stores the bitwise exclusive or of the word on pe with v. It is complete at pe after a Quiet. It panics as Add
// does (OpenSHMEM 1.6, shmem_atomic_xor).
func (a Atomic[W]) Xor(pe int, v W) { a.postChange(pe, transport.Xor, v) }

// FetchMin stores the lesser of v and the word on pe into the word, and returns the old value. It panics as FetchAdd
// does. It is an extension of OpenSHMEM. With PGAS_AMO=nic it is a loop of round trips.
func (a Atomic[W]) FetchMin(pe int, v W) W { return a.change(pe, opMin[W](), v) }

// Min stores the lesser of v and the word on pe into the word. It is complete at pe after a Quiet. It panics as Add
// does. With PGAS_AMO=nic it waits for round trips, as FetchMin does. It is an extension of OpenSHMEM.
func (a Atomic[W]) Min(pe int, v W) { a.postChange(pe, opMin[W](), v) }

// FetchMax stores the greater of v and the word on pe into the word, and returns the old value. It panics as FetchAdd
// does. It is an extension of OpenSHMEM. With PGAS_AMO=nic it is a loop of round trips.
func (a Atomic[W]) FetchMax(pe int, v W) W { return a.change(pe, opMax[W](), v) }

// Max stores the greater of v and the word on pe into the word. It is complete at pe after a Quiet. It panics as Add
// does. With PGAS_AMO=nic it waits for round trips, as FetchMax does. It is an extension of OpenSHMEM.
func (a Atomic[W]) Max(pe int, v W) { a.postChange(pe, opMax[W](), v) }

// opMin returns the operation for the minimum of words of type W.
func opMin[W Word]() transport.Op {
	if isSigned[W]() {
		return transport.Min
	}
	return transport.MinUnsigned
}

// opMax returns the operation for the maximum of words of type W.
func opMax[W Word]() transport.Op {
	if isSigned[W]() {
		return transport.Max
	}
	return transport.MaxUnsigned
}

// WaitUntil blocks until this PE's own copy of the word compares true with v, and returns the value that did. Atomics
// and signals of any PE wake the waiter; plain stores need not. What the updater ordered before its update, by a
// Fence or a Quiet, is then visible.
//
// It returns *PeerError if a PE of the job is lost, the cause of ctx if ctx ends, *NotesError if this PE has had no
// room for notifications for too long, or ErrClosed. It panics with *UsageError if
// cmp is no comparison (OpenSHMEM 1.6, shmem_wait_until).
func (a Atomic[W]) WaitUntil(ctx context.Context, cmp Cmp, v W) (W, error) {
	got, err := a.ctx.world("WaitUntil").waitWord(ctx, a.word(), cmp, uint64(v), isSigned[W]())
	return W(got), err
}

// waitUntilPred is WaitUntil with a scheduling hint, for a PE that waits in a queue behind PE pred; -1 means that the
// predecessor is not known. The predecessor itself still waits while its copy of the word equals predWaiting. The
// hint matters where PEs share CPUs: a waiter whose predecessor still waits yields the CPU at every poll, and a
// waiter that is next polls for a moment first. Its errors are those of WaitUntil; it panics with *UsageError also if
// pred is out of range.
func (a Atomic[W]) waitUntilPred(ctx context.Context, cmp Cmp, v W, pred int, predWaiting W) (W, error) {
	w := a.ctx.world("WaitUntil")
	if n := len(a.ctx.team.g.PEs); pred < -1 || pred >= n {
		misuse("WaitUntil", "PE %d is out of range: this %s has PEs 0 to %d, and -1 is one that is not known", pred, a.ctx.team.noun(), n-1)
	}
	c := w.n.WordCond(a.word(), cmp, uint64(v), isSigned[W]())
	if pred >= 0 {
		c = c.WithPredecessor(a.ctx.predecessorWord(pred, a.off), uint64(predWaiting))
	}
	got, err := w.awaitWord(ctx, c)
	return W(got), err
}

// Test reports, without waiting, whether this PE's own copy of the word compares true with v. It panics with
// *UsageError if cmp is no comparison (OpenSHMEM 1.6, shmem_test).
func (a Atomic[W]) Test(cmp Cmp, v W) bool {
	w := a.ctx.world("Test")
	w.n.YieldIfScheduled()
	checkCmp(cmp)
	c := w.n.WordCond(a.word(), cmp, uint64(v), isSigned[W]())
	_, ok := c.Check()
	w.looked(w.n.Ctx, c.Word.Off, uint64(c.Word.Bytes))
	return ok
}

// word returns the offset and the size of the word, as transports take them.
func (a Atomic[W]) word() transport.Word {
	var v W
	return transport.Word{Off: a.ctx.place("atomic", a.off, unsafe.Sizeof(v)), Bytes: int(unsafe.Sizeof(v))}
}

// change runs a fetching operation that the CPU has no instruction for.
func (a Atomic[W]) change(pe int, op transport.Op, v W) W {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		old := apply(p, op, v)
		door.Ring(uint64(a.off))
		return old
	}
	return a.slowFetchOp(pe, op, v, 0)
}

// postChange is change without the old value.
func (a Atomic[W]) postChange(pe int, op transport.Op, v W) {
	if p, door := a.ctx.atomicAddr(pe, a.off); p != nil {
		apply(p, op, v)
		door.Ring(uint64(a.off))
		return
	}
	a.post(pe, op, v)
}

// slowFetchOp runs a fetching operation through the transport.
//
//go:noinline
func (a Atomic[W]) slowFetchOp(pe int, op transport.Op, v, cond W) W {
	return W(a.ctx.mustAtomic(pe, op, a.word(), uint64(v), uint64(cond)))
}

// post issues an operation without a result through the transport.
//
//go:noinline
func (a Atomic[W]) post(pe int, op transport.Op, v W) {
	via, to := a.ctx.routeTo(op.String(), pe)
	via.Post(to, op, a.word(), uint64(v))
}

// slowFetch fetches a word of n bytes that is not mapped in this process.
//
//go:noinline
func slowFetch(c *Context, pe int, off uintptr, n uintptr) uint64 {
	return c.mustAtomic(pe, transport.Fetch, transport.Word{Off: c.place("Fetch", off, n), Bytes: int(n)}, 0, 0)
}

// firstOf returns the address of the first of values.
func firstOf[W Word](values []W) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(values)) }
