package pgas

// References to contiguous ranges. A put or get of n elements is one copy on this host and one
// message (or one RDMA operation) to another.

import (
	"reflect"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Slice refers to a contiguous range of elements of symmetric memory: the same offsets on every PE.
type Slice[T any] struct {
	ctx *Context
	off uintptr
	n   int
}

// Len is the number of elements.
func (s Slice[T]) Len() int { return s.n }

// At refers to element i. It panics with *UsageError if i is out of range.
//
//gcassert:inline
func (s Slice[T]) At(i int) Ref[T] {
	CheckIndex(i, s.n)
	return Ref[T]{s.ctx, s.off + uintptr(i)*node.SizeOf[T]()}
}

// Range is the range of elements lo to hi, hi excluded.
func (s Slice[T]) Range(lo, hi int) Slice[T] {
	checkRange(lo, hi, s.n)
	return Slice[T]{s.ctx, s.off + uintptr(lo)*node.SizeOf[T](), hi - lo}
}

// Local is this PE's own copy of the range.
func (s Slice[T]) Local() []T {
	if s.ctx.isNothing("Local", s.n) {
		return nil
	}
	return unsafe.Slice((*T)(s.ctx.w.local(s.off, uintptr(s.n)*node.SizeOf[T](), localChecked)), s.n)
}

// Flatten is the elements of the arrays that s refers to, arrays of arrays too, one after another: the 4,096
// numbers of a Slice[[64][64]float64] of one element. So a column of a matrix, in an allocation or in a
// field of a record, is a strided range: Elements[float64](r.GridRef().Slice()).IGet(pe, column, 1, 64, 64).
func Flatten[E, A any](s Slice[A]) Slice[E] {
	elem, n := reflect.TypeFor[A](), s.n
	for elem.Kind() == reflect.Array && elem != reflect.TypeFor[E]() {
		n *= elem.Len()
		elem = elem.Elem()
	}
	if elem != reflect.TypeFor[E]() {
		misuse("Elements", "%s is not made of %s but of %s", reflect.TypeFor[A](), reflect.TypeFor[E](), elem)
	}
	return Slice[E]{s.ctx, s.off, n}
}

// On is the same range on another context.
func (s Slice[T]) On(c *Context) Slice[T] {
	s.ctx.isNothing("On", s.n)
	return Slice[T]{c, s.off, s.n}
}

// Put copies src to the start of the range on pe. src may be reused on return; the data is complete
// and visible there after a Quiet (OpenSHMEM 1.6, shmem_put).
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

// PutNB copies src to the start of the range on pe, and need not wait until it has read src: that must
// not change until what it returns is Done, or until a QuietLocal or Quiet of the context. On this host,
// and if it is small, src has been read on return. To other hosts a large src is sent from where it is;
// with megabytes on the way to one PE, PutNB waits for room. The data is complete and visible there
// after a Quiet (OpenSHMEM 1.6, shmem_put_nbi).
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

// Get fills dst from the start of the range on pe and waits for it; it panics with *PeerError if pe
// is lost (OpenSHMEM 1.6, shmem_get).
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

// GetNB fills dst from the start of the range on pe at some time before the next Quiet returns; until
// then dst must not be touched (OpenSHMEM 1.6, shmem_get_nbi).
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

// PutSignal copies src to the start of the range on pe and then sets the signal there to value:
// whoever sees the signal sees src. It proves this payload only, not earlier puts
// (OpenSHMEM 1.6, shmem_put_signal with SHMEM_SIGNAL_SET).
func (s Slice[T]) PutSignal(pe int, src []T, sig SignalRef, value uint64) {
	checkFits("PutSignal", len(src), s.n)
	if p := s.ctx.addr(pe, s.off); p != nil {
		sig.ctx.refer()
		node.CopyLarge(unsafe.Slice((*T)(p), len(src)), src)
		sig.On(s.ctx).Set(pe, value)
		return
	}
	if s.ctx.isNothing("PutSignal", len(src)) {
		sig.Set(pe, value)
		return
	}
	s.ctx.putSignal("PutSignal", pe, s.off, bytesOf(unsafe.SliceData(src), len(src)), sig, opSet, value)
}

// PutSignalAdd is PutSignal that adds value to the signal
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
		sig.Add(pe, value)
		return
	}
	s.ctx.putSignal("PutSignalAdd", pe, s.off, bytesOf(unsafe.SliceData(src), len(src)), sig, opAdd, value)
}

// PutSignalNB is PutSignal that does not wait for src to be copied. Today src always is copied before it returns, so the
// LocalCompletion is done (OpenSHMEM 1.6, shmem_put_signal_nbi with SHMEM_SIGNAL_SET).
func (s Slice[T]) PutSignalNB(pe int, src []T, sig SignalRef, value uint64) LocalCompletion {
	s.PutSignal(pe, src, sig, value)
	return LocalCompletion{}
}

// PutSignalAddNB is PutSignalNB that adds value to the signal (OpenSHMEM 1.6, shmem_put_signal_nbi with
// SHMEM_SIGNAL_ADD).
func (s Slice[T]) PutSignalAddNB(pe int, src []T, sig SignalRef, value uint64) LocalCompletion {
	s.PutSignalAdd(pe, src, sig, value)
	return LocalCompletion{}
}

func alignOf[T any]() uintptr {
	var v T
	return unsafe.Alignof(v)
}

// within inlines where a plain call of bad would not: see near_unsafe.go.
func within(i, n int, bad func(i, n int)) {
	if uint(i) >= uint(n) {
		bad(i, n)
	}
}

//go:noinline
func badIndex(i, n int) { misuse("index", "%d is out of range for %d elements", i, n) }

func checkRange(lo, hi, n int) {
	if lo < 0 || hi < lo || hi > n {
		misuse("range", "[%d:%d] is out of range for %d elements", lo, hi, n)
	}
}

func checkFits(op string, k, n int) {
	if k > n {
		tooLong(op, k, n)
	}
}

//go:noinline
func tooLong(op string, k, n int) {
	misuse(op, "%d elements do not fit a range of %d", k, n)
}
