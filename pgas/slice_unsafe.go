package pgas

// References to contiguous ranges. A put or get of n elements is one copy if the PE is on this host, and one message or
// one RDMA operation if it is on another.

import (
	"reflect"
	"unsafe"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Slice refers to a contiguous range of elements of symmetric memory, at the same offsets on every PE. The zero Slice
// has 0 elements.
//
// All its operations panic with *UsageError if the PE is out of range, the context is closed, or the elements do not
// fit the range.
type Slice[T any] struct {
	ctx *Context
	off uintptr
	n   int
}

// Len returns the number of elements.
func (s Slice[T]) Len() int { return s.n }

// At returns a reference to element i. It panics with *UsageError if i is out of range.
//
//gcassert:inline
func (s Slice[T]) At(i int) Ref[T] {
	CheckIndex(i, s.n)
	return Ref[T]{s.ctx, s.off + uintptr(i)*node.SizeOf[T]()}
}

// Range returns the range of elements lo to hi, hi excluded. It panics with *UsageError unless 0 <= lo <= hi <= Len().
func (s Slice[T]) Range(lo, hi int) Slice[T] {
	checkRange(lo, hi, s.n)
	return Slice[T]{s.ctx, s.off + uintptr(lo)*node.SizeOf[T](), hi - lo}
}

// Local returns the calling PE's own copy of the range, as Go memory. It is valid until the allocation is freed.
func (s Slice[T]) Local() []T {
	if s.ctx.isNothing("Local", s.n) {
		return nil
	}
	return unsafe.Slice((*T)(s.ctx.w.local(s.off, uintptr(s.n)*node.SizeOf[T](), localChecked)), s.n)
}

// Flatten returns the range of the elements of type E of the arrays that s refers to, one after another. Arrays may be
// nested: a Slice[[64][64]float64] of one element flattens to 4,096 numbers. So a column of a matrix, in an allocation
// or in a field of a record, is a strided range: Flatten[float64](r.GridRef().Slice()).IGet(pe, column, 1, 64, 64).
// Flatten panics with *UsageError if A is not made of E.
func Flatten[E, A any](s Slice[A]) Slice[E] {
	elem, n := reflect.TypeFor[A](), s.n
	for elem.Kind() == reflect.Array && elem != reflect.TypeFor[E]() {
		n *= elem.Len()
		elem = elem.Elem()
	}
	if elem != reflect.TypeFor[E]() {
		misuse("Flatten", "%s is not made of %s but of %s", reflect.TypeFor[A](), reflect.TypeFor[E](), elem)
	}
	return Slice[E]{s.ctx, s.off, n}
}

// On returns a reference to the same range whose operations are issued on c. PE numbers are then those of c's team.
func (s Slice[T]) On(c *Context) Slice[T] {
	s.ctx.isNothing("On", s.n)
	return Slice[T]{c, s.off, s.n}
}

// Put copies src to the start of the range on pe. It is complete locally on return: src may be reused. The data is
// complete and visible at pe after a Quiet. A Fence orders it before later puts and atomics to the same PE. Put panics
// with *UsageError if src is longer than the range. If pe is lost, the next Quiet reports it
// (OpenSHMEM 1.6, shmem_put).
func (s Slice[T]) Put(pe int, src []T) {
	checkFits("Put", len(src), s.n)
	if p := s.ctx.addr(pe, s.off); p != nil {
		node.CopyLarge(unsafe.Slice((*T)(p), len(src)), src)
		return
	}
	if s.ctx.isNothing("Put", len(src)) {
		return
	}
	via, to := s.ctx.routeTo("Put", pe)
	b := bytesOf(unsafe.SliceData(src), len(src))
	via.Put(to, s.ctx.place("Put", s.off, uintptr(len(b))), b)
}

// PutNB copies src to the start of the range on pe, and may return before it has read src. The program must not change
// src until the LocalCompletion is Done, or until a QuietLocal or a Quiet of the context has returned. A small src, and
// any src for a PE of this host, has been read on return. A large src for another host is sent without a copy; with
// megabytes in flight to one PE, PutNB blocks until there is room. The data is complete and visible at pe after a
// Quiet. PutNB panics with *UsageError if src is longer than the range. If pe is lost, the next Quiet reports it
// (OpenSHMEM 1.6, shmem_put_nbi).
func (s Slice[T]) PutNB(pe int, src []T) LocalCompletion {
	checkFits("PutNB", len(src), s.n)
	if p := s.ctx.addr(pe, s.off); p != nil {
		node.CopyLarge(unsafe.Slice((*T)(p), len(src)), src)
		return LocalCompletion{}
	}
	if s.ctx.isNothing("PutNB", len(src)) {
		return LocalCompletion{}
	}
	return s.ctx.putNB(pe, s.off, keptBytesOf(unsafe.SliceData(src), len(src)))
}

// Get fills dst from the start of the range on pe. It blocks until dst is filled. It panics with *PeerError if pe is
// lost, and with *UsageError if dst is longer than the range (OpenSHMEM 1.6, shmem_get).
func (s Slice[T]) Get(pe int, dst []T) {
	checkFits("Get", len(dst), s.n)
	if p := s.ctx.addr(pe, s.off); p != nil {
		node.CopyLarge(dst, unsafe.Slice((*T)(p), len(dst)))
		return
	}
	if s.ctx.isNothing("Get", len(dst)) {
		return
	}
	s.ctx.mustGet("Get", pe, bytesOf(unsafe.SliceData(dst), len(dst)), uint64(s.off))
}

// GetNB fills dst from the start of the range on pe at some time before the next Quiet returns. Until then the program
// must neither read nor write dst. GetNB panics with *UsageError if dst is longer than the range. If pe is lost, the
// next Quiet reports it, and dst is undefined (OpenSHMEM 1.6, shmem_get_nbi).
func (s Slice[T]) GetNB(pe int, dst []T) {
	checkFits("GetNB", len(dst), s.n)
	if p := s.ctx.addr(pe, s.off); p != nil {
		node.CopyLarge(dst, unsafe.Slice((*T)(p), len(dst)))
		return
	}
	if s.ctx.isNothing("GetNB", len(dst)) {
		return
	}
	via, to := s.ctx.routeTo("GetNB", pe)
	b := keptBytesOf(unsafe.SliceData(dst), len(dst))
	via.GetNB(to, b, s.ctx.place("GetNB", s.off, uintptr(len(b))))
}

// PutSignal copies src to the start of the range on pe and then sets the signal on pe to value. It is complete locally
// on return. A PE that sees the new value of the signal also sees src. The signal covers this payload only, and no
// earlier put: for those, call Fence first. PutSignal panics with *UsageError if src is longer than the range. If pe is
// lost, the next Quiet reports it (OpenSHMEM 1.6, shmem_put_signal with SHMEM_SIGNAL_SET).
func (s Slice[T]) PutSignal(pe int, src []T, sig SignalRef, value uint64) {
	checkFits("PutSignal", len(src), s.n)
	if p := s.ctx.addr(pe, s.off); p != nil {
		sig.ctx.refer()
		node.CopyLarge(unsafe.Slice((*T)(p), len(src)), src)
		sig.On(s.ctx).Set(pe, value)
		return
	}
	if s.ctx.isNothing("PutSignal", len(src)) {
		sig.On(sig.ctx).Set(pe, value)
		return
	}
	s.ctx.putSignal("PutSignal", pe, s.off, bytesOf(unsafe.SliceData(src), len(src)), sig, opSet, value)
}

// PutSignalAdd copies as PutSignal does, and adds value to the signal atomically
// (OpenSHMEM 1.6, shmem_put_signal with SHMEM_SIGNAL_ADD).
func (s Slice[T]) PutSignalAdd(pe int, src []T, sig SignalRef, value uint64) {
	checkFits("PutSignalAdd", len(src), s.n)
	if p := s.ctx.addr(pe, s.off); p != nil {
		sig.ctx.refer()
		node.CopyLarge(unsafe.Slice((*T)(p), len(src)), src)
		sig.On(s.ctx).Add(pe, value)
		return
	}
	if s.ctx.isNothing("PutSignalAdd", len(src)) {
		sig.On(sig.ctx).Add(pe, value)
		return
	}
	s.ctx.putSignal("PutSignalAdd", pe, s.off, bytesOf(unsafe.SliceData(src), len(src)), sig, opAdd, value)
}

// PutSignalNB copies and signals as PutSignal does, and need not wait until src has been read. As with PutNB, the
// program must not change src until the LocalCompletion is Done, or until a QuietLocal or Quiet of the context returns
// (OpenSHMEM 1.6, shmem_put_signal_nbi with SHMEM_SIGNAL_SET).
func (s Slice[T]) PutSignalNB(pe int, src []T, sig SignalRef, value uint64) LocalCompletion {
	checkFits("PutSignalNB", len(src), s.n)
	if s.ctx.addr(pe, s.off) != nil || s.ctx.isNothing("PutSignalNB", len(src)) {
		s.PutSignal(pe, src, sig, value)
		return LocalCompletion{}
	}
	return s.ctx.putSignalNB("PutSignalNB", pe, s.off, keptBytesOf(unsafe.SliceData(src), len(src)), sig, opSet, value)
}

// PutSignalAddNB copies as PutSignalNB does, and adds value to the signal atomically (OpenSHMEM 1.6,
// shmem_put_signal_nbi with SHMEM_SIGNAL_ADD).
func (s Slice[T]) PutSignalAddNB(pe int, src []T, sig SignalRef, value uint64) LocalCompletion {
	checkFits("PutSignalAddNB", len(src), s.n)
	if s.ctx.addr(pe, s.off) != nil || s.ctx.isNothing("PutSignalAddNB", len(src)) {
		s.PutSignalAdd(pe, src, sig, value)
		return LocalCompletion{}
	}
	return s.ctx.putSignalNB("PutSignalAddNB", pe, s.off, keptBytesOf(unsafe.SliceData(src), len(src)), sig, opAdd, value)
}

// alignOf returns the alignment of T in bytes.
func alignOf[T any]() uintptr {
	var v T
	return unsafe.Alignof(v)
}

// within calls bad unless 0 <= i < n. It inlines where a plain call of bad would not: see fastpath_unsafe.go.
func within(i, n int, bad func(i, n int)) {
	if uint(i) >= uint(n) {
		bad(i, n)
	}
}

//go:noinline
func badIndex(i, n int) { misuse("index", "%d is out of range for %s", i, plural.Count(n, "element")) }

// checkRange panics with *UsageError unless lo to hi is a range of n elements.
func checkRange(lo, hi, n int) {
	if lo < 0 || hi < lo || hi > n {
		misuse("range", "[%d:%d] is out of range for %s", lo, hi, plural.Count(n, "element"))
	}
}

// checkFits panics with *UsageError if k elements do not fit a range of n.
func checkFits(op string, k, n int) {
	if k > n {
		tooLong(op, k, n)
	}
}

//go:noinline
func tooLong(op string, k, n int) {
	misuse(op, "%s do not fit a range of %d", plural.Count(k, "element"), n)
}

// Offset returns where the range starts in the symmetric heap of every PE, in bytes, for threads that are not Go's. The
// zero Slice has offset 0. Where accesses are checked, Offset panics with *UsageError if the memory was freed.
func (s Slice[T]) Offset() uint64 {
	if s.ctx.isNothing("Offset", s.n) {
		return 0
	}
	return s.ctx.place("Offset", s.off, uintptr(s.n)*node.SizeOf[T]())
}
