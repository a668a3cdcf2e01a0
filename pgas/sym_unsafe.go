package pgas

// Symmetric allocations. Alloc…, Realloc and Free are collective: every PE makes the same calls in the same
// order, and gets the same offset.

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Sym is a symmetric allocation: Len elements of T at the same offset of every PE's heap. Its methods panic with
// *UsageError after Free.
type Sym[T any] struct {
	ctx *Context
	blk *allocated
	off uintptr
	n   int
}

// allocated is the state of one allocation, which all copies of its Sym share. Methods of Sym check that it is not
// freed.
type allocated struct {
	freed  atomic.Bool
	layout Layout // layout of an element
	n      int    // number of elements

	off, bytes uint64       // offset in the heap, and size
	made       string       // where the program allocated it, if accesses are checked
	ended      atomic.Value // string: where the program freed it, if accesses are checked
}

// Alloc allocates n zeroed elements on every PE. It is collective over all PEs and contains a barrier, which quiets the
// default context and no other. With n == 0 it makes no barrier and returns an empty Sym. It panics with *UsageError
// if n is negative or T holds pointers, which mean nothing on another PE.
//
// It returns *HeapFullError on every PE if the allocation does not fit. It returns *MismatchError on every PE if the
// PEs allocate different numbers or types, or call different collectives. As every collective, it also returns
// *PeerError if a PE is lost, the cause of ctx if ctx ends first, *AbortedError if another PE has given up the call,
// and an error if the World is closed. After an error the heap is unchanged (OpenSHMEM 1.6, shmem_calloc).
func Alloc[T any](ctx context.Context, w *World, n int) (Sym[T], error) {
	return allocate[T](ctx, w, n, alignOf[T](), Layout{}, true)
}

// AllocRaw allocates as Alloc does, with undefined contents. Its errors are those of Alloc (OpenSHMEM 1.6,
// shmem_malloc).
func AllocRaw[T any](ctx context.Context, w *World, n int) (Sym[T], error) {
	return allocate[T](ctx, w, n, alignOf[T](), Layout{}, false)
}

// AllocAligned allocates as Alloc does, at an address that is a multiple of align bytes on every PE. align is a
// power of two of at most 2 MiB, the alignment of heaps; otherwise it panics with *UsageError. Its errors are those of
// Alloc (OpenSHMEM 1.6, shmem_align).
func AllocAligned[T any](ctx context.Context, w *World, n, align int) (Sym[T], error) {
	if align <= 0 || align&(align-1) != 0 {
		misuse("AllocAligned", "alignment %d is not a power of two", align)
	}
	if align > boot.HeapAlign {
		misuse("AllocAligned", "alignment %d is more than %d, which is what the heaps of all PEs start at a multiple of: ask for that, or for less", align, boot.HeapAlign)
	}
	return allocate[T](ctx, w, n, max(uintptr(align), alignOf[T]()), Layout{}, true)
}

// allocate is the collective allocation behind all forms of Alloc. This PE reserves its block before it compares its
// request with the others', and releases the block again if they differ.
func allocate[T any](ctx context.Context, w *World, n int, align uintptr, layout Layout, zero bool) (Sym[T], error) {
	w.mustBeOpen("Alloc")
	mustHaveContext("Alloc", ctx)
	typ := reflect.TypeFor[T]()
	layout.mustBeCurrent(typ)
	if n < 0 {
		misuse("Alloc", "%s: the count must not be negative", plural.Count(n, "element"))
	}
	if path := pointerIn(typ); path != "" {
		misuse("Alloc", "%s cannot live in symmetric memory: %s holds a pointer, which means nothing on another PE", typ, path)
	}
	if n == 0 {
		return Sym[T]{ctx: w.defaultCtx, blk: &allocated{layout: layout}}, nil
	}
	if layout.Name == "" {
		layout.Name = typ.String()
	}
	w.allocMu.Lock()
	defer w.allocMu.Unlock()
	size := node.SizeOf[T]()
	r := allocRequest{kind: requestAlloc, n: uint64(n), size: uint64(size), layout: layout.Hash, align: uint64(align), name: layout.Name}
	high := w.heap.Usage.High
	bytes, fits := product(uint64(n), uint64(size))
	b := &allocated{layout: layout, n: n, bytes: bytes}
	if fits {
		b.off, fits = w.heap.Alloc(bytes, uint64(align))
	}
	var off uintptr
	if fits { // before the barrier: peers may write after it
		off = w.track(b)
		w.heapUse.note(w.heap.Usage, w.n.Rec)
		w.n.Names.Add(node.Allocation{Off: b.off, Size: uint64(size), N: n, Typ: typ, Site: callsite.Program()})
		if zero {
			w.zero(b.off, touched(b.off, bytes, high))
		}
	}
	if err := w.agree(ctx, r); err != nil {
		if fits {
			w.untrack(b)
			w.n.Names.Remove(b.off)
			w.heap.Release(b.off)
			w.heapUse.note(w.heap.Usage, w.n.Rec)
		}
		return Sym[T]{}, locatedError("Alloc", err)
	}
	if !fits {
		return Sym[T]{}, locatedError("Alloc", &HeapFullError{Bytes: bytes, InUse: w.heap.Usage.InUse, Max: w.heap.Usage.Max})
	}
	w.n.Debugf("allocates %d %s, %d bytes at offset %#x", n, layout.Name, bytes, b.off)
	return Sym[T]{ctx: w.defaultCtx, blk: b, off: off, n: n}, nil
}

// track returns the offset that references to b carry.
func (w *World) track(b *allocated) uintptr {
	if w.check != nil {
		return w.check.track(b)
	}
	return uintptr(b.off)
}

// untrack records that b was freed.
func (w *World) untrack(b *allocated) {
	if w.check != nil {
		w.check.untrack(b)
	}
	b.freed.Store(true)
}

// touched returns how many of the n bytes at off may have been written before, given the heap's high-water mark before
// the allocation: memory above that mark is still zero.
func touched(off, n, high uint64) uint64 {
	if off >= high {
		return 0
	}
	return min(n, high-off)
}

// zero clears n bytes from off of this PE's heap.
func (w *World) zero(off, n uint64) { w.n.Job.Segment.Zero(w.n.Job.PE-w.n.FirstPE, off, n) }

// product returns a*b, and false if that overflows.
func product(a, b uint64) (uint64, bool) {
	if b != 0 && a > (1<<63)/b {
		return ^uint64(0), false
	}
	return a * b, true
}

// Realloc returns an allocation of n elements that begins with the elements of s on every PE. Further elements are
// zero. It frees s. It is collective: an allocation, a copy within each PE, and a Free. Its errors are those of Alloc
// and Free. If the allocation fails, s is unchanged and still allocated; if the Free fails, the new allocation is
// returned beside the error (OpenSHMEM 1.6, shmem_realloc).
func (s Sym[T]) Realloc(ctx context.Context, n int) (Sym[T], error) {
	s.alive("Realloc")
	mustHaveContext("Realloc", ctx)
	w := s.ctx.w
	t, err := allocate[T](ctx, w, n, alignOf[T](), s.blk.layout, true)
	if err != nil {
		return s, fmt.Errorf("realloc: %w", err)
	}
	if s.n > 0 && t.n > 0 {
		copy(t.Local(), s.Local())
	}
	return t.On(s.ctx), s.Free(ctx)
}

// Free releases s on every PE. It is collective over all PEs and contains a barrier, which quiets the default context:
// operations to s that were issued on it are complete before the memory is released. Other contexts need a Quiet first,
// non-blocking collectives of other teams a Wait, and locks in s an Unlock. References to s must not be used
// afterwards. Making a new one, or another Free, panics with *UsageError. So does Free of a Lock that this PE holds,
// and, where accesses are checked (PGAS_CHECK=1), Free while an operation of this PE may be under way to s or to memory
// of s on another PE, with both lines.
//
// It returns *MismatchError on every PE if the PEs free different allocations or call different collectives, *PeerError
// if a PE is lost, the cause of ctx if ctx ends first, *AbortedError if another PE has given up the call, and an error
// if the World is closed. After an error s is not freed (OpenSHMEM 1.6, shmem_free).
func (s Sym[T]) Free(ctx context.Context) error {
	s.alive("Free")
	mustHaveContext("Free", ctx)
	if s.n == 0 {
		s.blk.freed.Store(true)
		return nil
	}
	w := s.ctx.w
	w.allocMu.Lock()
	defer w.allocMu.Unlock()
	off := s.blk.off
	w.mustBeIdle("Free", s.blk)
	w.mustHoldNone("Free", off, off+s.blk.bytes)
	if err := w.agree(ctx, allocRequest{kind: requestFree, n: off}); err != nil {
		return locatedError("Free", err)
	}
	w.n.Races.Freed(off, off+s.blk.bytes)
	w.n.Names.Remove(off)
	w.n.Debugf("frees what is at offset %#x", off)
	if n := w.heap.Release(off); n >= boot.DiscardMin {
		w.zero(off, n) // gives its pages back
	}
	w.heapUse.note(w.heap.Usage, w.n.Rec)
	w.untrack(s.blk)
	w.mustBeIdle("Free", s.blk) // what another goroutine has issued meanwhile
	return nil
}

// Len returns the number of elements.
func (s Sym[T]) Len() int { return s.n }

// At returns a reference to element i. It panics with *UsageError if i is out of range or s was freed.
//
//gcassert:inline
func (s Sym[T]) At(i int) Ref[T] {
	live(s.blk, i, s.n, panicAt)
	return Ref[T]{s.ctx, s.off + uintptr(i)*node.SizeOf[T]()}
}

// live calls bad unless 0 <= i < n and the allocation has not been freed. It inlines where a plain call of bad
// would not: see fastpath_unsafe.go.
func live(b *allocated, i, n int, bad func(b *allocated, i, n int)) {
	if uint(i) >= uint(n) || b.freed.Load() {
		bad(b, i, n)
	}
}

//go:noinline
func panicAt(b *allocated, i, n int) {
	b.alive("At")
	misuse("At", "index %d is out of range for %s", i, plural.Count(n, "element"))
}

// Range returns the range of elements lo to hi, hi excluded. It panics with *UsageError unless 0 <= lo <= hi <= Len(),
// or if s was freed.
func (s Sym[T]) Range(lo, hi int) Slice[T] {
	s.alive("Range")
	checkRange(lo, hi, s.n)
	return Slice[T]{s.ctx, s.off + uintptr(lo)*node.SizeOf[T](), hi - lo}
}

// All returns the range of all elements. It panics with *UsageError if s was freed.
func (s Sym[T]) All() Slice[T] { return s.Range(0, s.n) }

// Local returns the calling PE's own copy, as Go memory. It is valid until s is freed. It panics with *UsageError if s
// was freed.
func (s Sym[T]) Local() []T {
	s.alive("Local")
	if s.n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(s.ctx.w.local(s.off, uintptr(s.n)*node.SizeOf[T](), localChecked)), s.n)
}

// On returns the same allocation with references whose operations are issued on c. PE numbers are then those of c's
// team.
func (s Sym[T]) On(c *Context) Sym[T] {
	s.ctx = c
	return s
}

// alive panics with *UsageError if s was never allocated or was freed.
func (s Sym[T]) alive(op string) { s.blk.alive(op) }

// alive panics with *UsageError if b is nil or was freed.
func (b *allocated) alive(op string) {
	if b == nil {
		misuse(op, "this Sym was never allocated: use Alloc")
	}
	if b.freed.Load() {
		misuse(op, "this memory was freed: %s", b)
	}
}

// mustBePlain panics with *UsageError if t holds a pointer at any depth, which means nothing on another PE. A Go type
// parameter cannot say that. op is the operation that is called, as the program spells it.
func mustBePlain(t reflect.Type, op string) {
	if path := pointerIn(t); path != "" {
		misuse(op, "%s cannot go to another PE: %s holds a pointer, which means nothing there", t, path)
	}
}

// pointerIn returns the path of the first pointer in a type, or "".
func pointerIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return ""
	case reflect.Array:
		return pointerIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if path := pointerIn(t.Field(i).Type); path != "" {
				return t.Field(i).Name + " " + path
			}
		}
		return ""
	}
	return t.String()
}

// Hint describes how an allocation will be used. No hint restricts the use of an allocation.
type Hint uint8

// The hints of the specification.
const (
	// AtomicsRemote: most accesses are atomics of other PEs (OpenSHMEM 1.6, SHMEM_MALLOC_ATOMICS_REMOTE).
	AtomicsRemote Hint = 1 << iota
	// SignalRemote: it holds signals that other PEs update (OpenSHMEM 1.6, SHMEM_MALLOC_SIGNAL_REMOTE).
	SignalRemote
)

// AllocHints allocates as AllocRaw does, with hints. This runtime has one kind of memory, so hints have no effect, and
// unknown hints are ignored. Its errors are those of Alloc (OpenSHMEM 1.6, shmem_malloc_with_hints).
func AllocHints[T any](ctx context.Context, w *World, n int, hints Hint) (Sym[T], error) {
	return AllocRaw[T](ctx, w, n)
}
