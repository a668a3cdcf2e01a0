package pgas

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Signal is a field type: 8 bytes that tell the target of the arrival of data. Put-with-signal and SignalRef update
// it, and the PE that owns the copy waits for it (OpenSHMEM 1.6, section 9.10).
//
// Updates of one signal by one context are applied in the order of their issue. So a signal to which one PE alone adds
// 1, on one context, counts its puts-with-signal: a waiter that sees k sees the data of the first k. A signal must not
// be set by one PE while another PE adds to it: the result is undefined.
type Signal struct{ _ uint64 }

// SignalRef refers to a signal of symmetric memory. Completion, order and panics of its operations are those of
// Atomic.
type SignalRef struct {
	ctx *Context
	off uintptr
}

// SignalOf returns element i of s. It panics with *UsageError if i is out of range.
func SignalOf(s Sym[Signal], i int) SignalRef {
	return SignalRef(s.At(i))
}

// On returns the same signal on context c, whose team its PE numbers then count. It panics with *UsageError if s is
// zero.
func (s SignalRef) On(c *Context) SignalRef {
	s.ctx.refer()
	return SignalRef{c, s.off}
}

// Set stores v into the signal on pe; it moves no data. It is complete at pe after a Quiet. A waiter that sees v sees
// earlier puts to pe if the initiator called Fence between them and Set. One PE may not set a signal while another adds
// to it. It panics with *UsageError as Atomic says (OpenSHMEM 1.6, shmem_signal_set).
func (s SignalRef) Set(pe int, v uint64) { s.word().Set(pe, v) }

// Add adds v to the signal on pe; otherwise it is Set (OpenSHMEM 1.6, shmem_signal_add).
func (s SignalRef) Add(pe int, v uint64) { s.word().Add(pe, v) }

// Fetch returns this PE's own copy of the signal, without communication (OpenSHMEM 1.6, shmem_signal_fetch).
func (s SignalRef) Fetch() uint64 {
	s.ctx.world("Signal.Fetch").n.YieldIfScheduled()
	off := s.word().word().Off
	v := node.LoadWord(s.ctx.w.n.Own(uintptr(off)), 0, true)
	s.ctx.w.looked(s.ctx.w.n.Ctx, off, wordSize)
	return v
}

// WaitUntil blocks until this PE's own copy compares true with v, and returns the value that did. The payload of the
// put that carried that value is then visible. Its errors and panics are those of Atomic.WaitUntil (OpenSHMEM 1.6,
// shmem_signal_wait_until).
func (s SignalRef) WaitUntil(ctx context.Context, cmp Cmp, v uint64) (uint64, error) {
	return s.word().WaitUntil(ctx, cmp, v)
}

// Test reports, without waiting, whether this PE's own copy compares true with v. If it does, the payload is visible.
// It panics with *UsageError if cmp is no comparison (OpenSHMEM 1.6, shmem_test).
func (s SignalRef) Test(cmp Cmp, v uint64) bool { return s.word().Test(cmp, v) }

// word returns the signal as an atomic word.
func (s SignalRef) word() Atomic[uint64] { return Atomic[uint64]{ctx: s.ctx, off: s.off} }

// SignalSlice refers to a range of signals of symmetric memory.
type SignalSlice struct {
	ctx *Context
	off uintptr
	n   int
}

// SignalsOf returns the elements of s as signals. It panics with *UsageError if they are not aligned.
func SignalsOf(s Slice[Signal]) SignalSlice {
	aligned(s.off, wordSize, misaligned)
	return SignalSlice(s)
}

// Len returns the number of signals.
func (s SignalSlice) Len() int { return s.n }

// At returns a reference to signal i. It panics with *UsageError if i is out of range.
func (s SignalSlice) At(i int) SignalRef { return SignalRef(Slice[Signal](s).At(i)) }

// Range returns the signals lo to hi, hi excluded. It panics with *UsageError unless 0 ≤ lo ≤ hi ≤ Len.
func (s SignalSlice) Range(lo, hi int) SignalSlice {
	return SignalSlice(Slice[Signal](s).Range(lo, hi))
}

// On returns the same signals on context c. It panics with *UsageError if s is zero and not empty.
func (s SignalSlice) On(c *Context) SignalSlice {
	s.ctx.isNothing("On", s.n)
	return SignalSlice{c, s.off, s.n}
}

// Until returns the set of this PE's own copies of the signals, each with the condition that it compares true with v.
// A wait that sees a value also sees the payload of the put that carried it. It panics with *UsageError if cmp is no
// comparison.
func (s SignalSlice) Until(cmp Cmp, v uint64) *WaitSet[uint64] {
	return AtomicSlice[uint64](s).Until(cmp, v)
}

// UntilEach is Until with a value for each signal, as AtomicSlice.UntilEach has it. It panics with *UsageError if
// len(values) is not the number of signals.
func (s SignalSlice) UntilEach(cmp Cmp, values []uint64) *WaitSet[uint64] {
	return AtomicSlice[uint64](s).UntilEach(cmp, values)
}
