package pgas

// Values that were never initialized: a zero Ref, Slice or lock, a nil *World, *Team or *Context, a nil
// context.Context. Their use is misuse, and calls panic with *UsageError.
//
// The fast path has no room for this test: a put or a get of one element and the fetch of a word inline into the
// program, and are as large as the compiler inlines. On the fast path a zero reference is a nil dereference, which
// Recovered explains. With checking (PGAS_CHECK=1) the code, and so this behaviour, is the same.
//
// A Slice of no elements needs no memory, so the zero Slice is valid where 0 elements are meant.

import (
	"context"
	"runtime"
	"strings"

	"github.com/gopgas/gopgas/internal/callsite"
)

const (
	zeroReference = "a zero reference (it was made by no Alloc, or On was given a nil *Context): take it from what Alloc has returned"
	zeroWorld     = "a nil or zero World (it was made by no Main, Init or Open): use the one that they have made"
	zeroContext   = "a nil or zero Context (it was made by no NewContext): use what NewContext, World.Context or Team.Context return"
	nilContext    = "the context.Context is nil: give the one of the program, or context.Background()"
)

// mustHaveContext panics with *UsageError if ctx is nil.
func mustHaveContext(op string, ctx context.Context) {
	if ctx == nil {
		misuse(op, nilContext)
	}
}

// mustBeOpen panics with *UsageError if w is nil or zero.
func (w *World) mustBeOpen(op string) {
	if w == nil || w.n.Job == nil {
		notOpen(op, zeroWorld)
	}
}

// notOpen is misuse for checks that inline.
//
//go:noinline
func notOpen(op, why string) { misuse(op, "%s", why) }

// mustBeOpen panics with *UsageError if c is nil or zero.
func (c *Context) mustBeOpen(op string) {
	if c == nil || c.w == nil {
		notOpen(op, zeroContext)
	}
}

// mustNotBeClosed panics with *UsageError if c is nil, zero or closed.
func (c *Context) mustNotBeClosed(op string) {
	c.mustBeOpen(op)
	if c.closed.Load() {
		notOpen(op, errContextClosed.Error())
	}
}

// world returns the World of a reference on c. It panics with *UsageError if the reference is zero.
func (c *Context) world(op string) *World {
	if c == nil || c.w == nil {
		misuse(op, zeroReference)
	}
	return c.w
}

// isNothing reports whether c and n are those of the zero Slice. It panics with *UsageError if c is
// nil and n is not 0.
func (c *Context) isNothing(op string, n int) bool {
	if c != nil {
		return false
	}
	if n != 0 {
		misuse(op, zeroReference)
	}
	return true
}

// refer panics with *UsageError if a reference on c is zero, before On makes it one on another context.
func (c *Context) refer() {
	if c == nil {
		zeroOn()
	}
}

//go:noinline
func zeroOn() { misuse("On", zeroReference) }

// faulting maps functions in which a nil pointer of the program faults to the value that was zero.
var faulting = map[string]string{
	"store":              zeroReference,
	"fetch":              zeroReference,
	"fetchWord":          zeroReference,
	"fetchAddWord":       zeroReference,
	"swapWord":           zeroReference,
	"compareSwapWord":    zeroReference,
	"addWord":            zeroReference,
	"setWord":            zeroReference,
	"Ref[...].Local":     zeroReference,
	"(*World).PE":        zeroWorld,
	"(*World).NPEs":      zeroWorld,
	"(*World).Quiet":     zeroWorld,
	"(*World).MustQuiet": zeroWorld,
	"quietStores":        zeroContext,
	"mustQuietStores":    zeroContext,
}

// zeroFault returns the *UsageError for p, the recovered fault of a nil pointer in the fast path; nil if p is
// another panic.
func zeroFault(p any) *UsageError {
	err, ok := p.(runtime.Error)
	if !ok || !strings.Contains(err.Error(), "nil pointer dereference") {
		return nil
	}
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function == "runtime.sigpanic" {
			break
		}
		if !more {
			return nil
		}
	}
	f, more := frames.Next()
	for more && strings.HasPrefix(f.Function, "sync/atomic.") { // the load of an atomic
		f, more = frames.Next()
	}
	msg := faulting[strings.TrimSuffix(strings.TrimPrefix(f.Function, callsite.Module+"pgas."), "[...]")]
	if msg == "" {
		return nil
	}
	op := f.Function
	for more {
		if f, more = frames.Next(); !callsite.IsRuntime(f.Function, f.File) {
			break
		}
		op = f.Function
	}
	return &UsageError{Op: op[strings.LastIndexByte(op, '.')+1:], Msg: msg}
}

// wordSize is the size of a signal and of each word of a lock.
const wordSize = 8

// aligned calls bad unless off is a multiple of size. Every atomic word that a program refers to has passed it, or is
// an element of an allocation, which is aligned: CPUs, NICs and transports update no other words. It inlines where a
// plain call of bad would not: see fastpath_unsafe.go.
func aligned(off, size uintptr, bad func(off, size uintptr)) {
	if off&(size-1) != 0 {
		bad(off, size)
	}
}

//go:noinline
func misaligned(_, size uintptr) {
	misuse("atomic word", "%d bytes that are not aligned: a word of %d bytes lies at a multiple of %d; "+
		"use the accessors that pgasgen writes, which know the fields' offsets", size, size, size)
}
