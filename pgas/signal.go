package pgas

import "context"

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

// FieldSignal is the signal at byte offset off of the record that r refers to. It is for generated
// code.
func FieldSignal[T any](r Ref[T], off uintptr) SignalRef { return SignalRef{r.ctx, r.off + off} }

// On is the same signal on another context.
func (s SignalRef) On(c *Context) SignalRef { return SignalRef{c, s.off} }

// Set stores v into the signal on pe; complete there after a Quiet.
func (s SignalRef) Set(pe int, v uint64) { s.word().Set(pe, v) }

// Add adds v to the signal on pe; complete there after a Quiet.
func (s SignalRef) Add(pe int, v uint64) { s.word().Add(pe, v) }

// Fetch returns this PE's own copy (OpenSHMEM 1.6, shmem_signal_fetch).
func (s SignalRef) Fetch() uint64 { return s.word().Fetch(s.ctx.team.PE()) }

// WaitUntil blocks until this PE's own copy compares true with v, and returns the value that did. The
// payload of the put that carried that value is then visible (OpenSHMEM 1.6, shmem_signal_wait_until).
func (s SignalRef) WaitUntil(ctx context.Context, cmp Cmp, v uint64) (uint64, error) {
	return s.word().WaitUntil(ctx, cmp, v)
}

// Test reports whether this PE's own copy compares true with v now.
func (s SignalRef) Test(cmp Cmp, v uint64) bool { return s.word().Test(cmp, v) }

func (s SignalRef) word() Atomic[uint64] { return Atomic[uint64](s) }
