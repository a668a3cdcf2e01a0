package pgas

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Signal is a field type: 8 bytes that tell of the arrival of data. It is updated by put-with-signal
// and by SignalRef, and waited for on the PE that owns it (OpenSHMEM 1.6, section 9.10).
type Signal struct{ _ uint64 }

// SignalRef refers to a signal of symmetric memory.
type SignalRef struct {
	ctx *Context
	off uintptr
}

// SignalOf is element i of s.
func SignalOf(s Sym[Signal], i int) SignalRef {
	return SignalRef(s.At(i))
}

// On is the same signal on another context.
func (s SignalRef) On(c *Context) SignalRef {
	s.ctx.refer()
	return SignalRef{c, s.off}
}

// Set stores v into the signal on pe, which carries no data: complete there after a Quiet. It tells of
// earlier puts to pe if a Fence stands between (OpenSHMEM 1.6, shmem_signal_set). Two PEs may not set and
// add to one signal at the same time.
func (s SignalRef) Set(pe int, v uint64) { s.word().Set(pe, v) }

// Add is Set that adds v to the signal (OpenSHMEM 1.6, shmem_signal_add).
func (s SignalRef) Add(pe int, v uint64) { s.word().Add(pe, v) }

// Fetch returns this PE's own copy (OpenSHMEM 1.6, shmem_signal_fetch).
func (s SignalRef) Fetch() uint64 {
	s.ctx.world("Signal.Fetch").n.YieldIfScheduled()
	return node.LoadWord(s.ctx.w.n.Own(uintptr(s.word().word().Off)), 0, true)
}

// WaitUntil blocks until this PE's own copy compares true with v, and returns the value that did. The
// payload of the put that carried that value is then visible (OpenSHMEM 1.6, shmem_signal_wait_until).
func (s SignalRef) WaitUntil(ctx context.Context, cmp Cmp, v uint64) (uint64, error) {
	return s.word().WaitUntil(ctx, cmp, v)
}

// Test reports whether this PE's own copy compares true with v now. If it does, the payload is visible
// (OpenSHMEM 1.6, shmem_test).
func (s SignalRef) Test(cmp Cmp, v uint64) bool { return s.word().Test(cmp, v) }

func (s SignalRef) word() Atomic[uint64] { return Atomic[uint64]{ctx: s.ctx, off: s.off} }

// SignalSlice refers to a range of signals of symmetric memory.
type SignalSlice struct {
	ctx *Context
	off uintptr
	n   int
}

// SignalsOf is the elements of s as signals.
func SignalsOf(s Slice[Signal]) SignalSlice { return SignalSlice(s) }

// Len is the number of signals.
func (s SignalSlice) Len() int { return s.n }

// At refers to signal i. It panics with *UsageError if i is out of range.
func (s SignalSlice) At(i int) SignalRef { return SignalRef(Slice[Signal](s).At(i)) }

// Range is the signals lo to hi, hi excluded.
func (s SignalSlice) Range(lo, hi int) SignalSlice {
	return SignalSlice(Slice[Signal](s).Range(lo, hi))
}

// On is the same signals on another context.
func (s SignalSlice) On(c *Context) SignalSlice {
	s.ctx.isNothing("On", s.n)
	return SignalSlice{c, s.off, s.n}
}

// Until is the set of this PE's own copies of the signals, to be waited for until they compare true with
// v. The payloads of the puts that carried the values seen are then visible.
func (s SignalSlice) Until(cmp Cmp, v uint64) *WaitSet[uint64] {
	return AtomicSlice[uint64](s).Until(cmp, v)
}

// UntilEach is Until with a value for each signal, as AtomicSlice.UntilEach has it.
func (s SignalSlice) UntilEach(cmp Cmp, values []uint64) *WaitSet[uint64] {
	return AtomicSlice[uint64](s).UntilEach(cmp, values)
}
