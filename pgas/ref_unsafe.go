package pgas

// References to single elements. A reference is a context and an offset, never an address: the heap
// of each PE is mapped where its process found room. The bounds were checked when the reference was
// made (Sym.At), so an access only has to find the PE: one index, one nil check, one store.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Ref refers to one element of symmetric memory: the same offset on every PE. It is small; copy it.
type Ref[T any] struct {
	ctx *Context
	off uintptr
}

// Put copies v into the element on pe. It is complete there, and visible, after a Quiet; a Fence
// orders it before later puts and atomics to the same PE (OpenSHMEM 1.6, shmem_p).
//
//gcassert:inline
func (r Ref[T]) Put(pe int, v T) {
	store(r.ctx, r.off, pe, v, slowPut)
}

// Get returns the element on pe. It waits for the value, and panics with *PeerError if pe is lost
// (OpenSHMEM 1.6, shmem_g).
//
//gcassert:inline
func (r Ref[T]) Get(pe int) T {
	return fetch[T](r.ctx, r.off, pe, slowGet)
}

// PutNB is Put from a pointer. One element is copied at once, so its LocalCompletion is done on return
// (OpenSHMEM 1.6, shmem_put_nbi).
func (r Ref[T]) PutNB(pe int, v *T) LocalCompletion {
	if p := r.ctx.addr(pe, r.off); p != nil {
		*(*T)(p) = *v
	} else {
		slowPut(r.ctx, pe, r.off, unsafe.Pointer(v), unsafe.Sizeof(*v))
	}
	return LocalCompletion{}
}

// GetNB fills *dst from the element on pe at some time before the next Quiet returns; until then *dst
// must not be touched (OpenSHMEM 1.6, shmem_get_nbi).
func (r Ref[T]) GetNB(pe int, dst *T) {
	if p := r.ctx.addr(pe, r.off); p != nil {
		*dst = *(*T)(p)
		return
	}
	via, to := r.ctx.routeTo("GetNB", pe)
	via.GetNB(to, keptBytesOf(dst, 1), r.ctx.place("GetNB", r.off, unsafe.Sizeof(*dst)))
}

// PutSignal copies *v into the element on pe and then sets the signal there to value: whoever sees
// the signal sees the data. The signal proves this payload only, not earlier puts
// (OpenSHMEM 1.6, shmem_put_signal with SHMEM_SIGNAL_SET).
func (r Ref[T]) PutSignal(pe int, v *T, sig SignalRef, value uint64) {
	if p := r.ctx.addr(pe, r.off); p != nil {
		sig.ctx.refer()
		*(*T)(p) = *v
		sig.On(r.ctx).Set(pe, value)
		return
	}
	r.ctx.putSignal("PutSignal", pe, r.off, bytesOf(v, 1), sig, opSet, value)
}

// PutSignalAdd is PutSignal that adds value to the signal
// (OpenSHMEM 1.6, shmem_put_signal with SHMEM_SIGNAL_ADD).
func (r Ref[T]) PutSignalAdd(pe int, v *T, sig SignalRef, value uint64) {
	if p := r.ctx.addr(pe, r.off); p != nil {
		sig.ctx.refer()
		*(*T)(p) = *v
		sig.On(r.ctx).Add(pe, value)
		return
	}
	r.ctx.putSignal("PutSignalAdd", pe, r.off, bytesOf(v, 1), sig, opAdd, value)
}

// PutSignalNB is PutSignal that does not wait for its source to be copied. One element is copied at once, so its
// LocalCompletion is done on return (OpenSHMEM 1.6, shmem_put_signal_nbi with SHMEM_SIGNAL_SET).
func (r Ref[T]) PutSignalNB(pe int, v *T, sig SignalRef, value uint64) LocalCompletion {
	r.PutSignal(pe, v, sig, value)
	return LocalCompletion{}
}

// PutSignalAddNB is PutSignalNB that adds value to the signal (OpenSHMEM 1.6, shmem_put_signal_nbi with
// SHMEM_SIGNAL_ADD).
func (r Ref[T]) PutSignalAddNB(pe int, v *T, sig SignalRef, value uint64) LocalCompletion {
	r.PutSignalAdd(pe, v, sig, value)
	return LocalCompletion{}
}

// Local is this PE's own copy of the element.
func (r Ref[T]) Local() *T { return (*T)(r.ctx.w.local(r.off, node.SizeOf[T](), localChecked)) }

// Slice is the range of this one element.
func (r Ref[T]) Slice() Slice[T] { return Slice[T]{r.ctx, r.off, 1} }

// On is the same element on another context.
func (r Ref[T]) On(c *Context) Ref[T] {
	if r.ctx == nil { // by hand: with refer, the accessors that pgasgen writes would not be inlined
		zeroOn()
	}
	return Ref[T]{c, r.off}
}

// mustGet fills dst or panics: a blocking get has nowhere to return an error to.
func (c *Context) mustGet(op string, pe int, dst []byte, src uint64) {
	via, to := c.routeTo(op, pe)
	src = c.place(op, uintptr(src), uintptr(len(dst)))
	c.w.n.Block(node.Blocked{Op: boot.InGet, Peer: to, Seq: src})
	err := via.Get(c.w.n.Ctx, to, dst, src)
	c.w.n.Unblock()
	if err != nil {
		panic(err)
	}
}

// putSignal puts src and updates sig through the transport.
func (c *Context) putSignal(op string, pe int, off uintptr, src []byte, sig SignalRef, how transport.Op, value uint64) {
	via, to := c.routeTo(op, pe)
	sig.ctx.world(op)
	via.PutSignal(to, c.place(op, off, uintptr(len(src))), src, c.place(op, sig.off, 8), how, value)
}

// place returns the offset in the heap of n bytes from reference off. With checking it panics with *UsageError
// if their allocation does not live (check.go).
func (c *Context) place(op string, off, n uintptr) uint64 {
	if off>>generationShift == 0 {
		return uint64(off)
	}
	return c.checkedPlace(op, off, n)
}

//go:noinline
func (c *Context) checkedPlace(op string, off, n uintptr) uint64 {
	return c.world(op).check.place(op, off, n)
}

// local returns the address of n bytes from reference off in this PE's own heap, for the program. It inlines;
// near_unsafe.go says why checked is a parameter.
func (w *World) local(off, n uintptr, checked func(w *World, off, n uintptr) unsafe.Pointer) unsafe.Pointer {
	if off>>generationShift == 0 {
		return unsafe.Add(w.n.HeapBase.P, off)
	}
	return checked(w, off, n)
}

// localChecked returns the same address in the guarded view, if there is one.
//
//go:noinline
func localChecked(w *World, off, n uintptr) unsafe.Pointer {
	at := w.check.place("Local", off, n)
	return unsafe.Add(w.guarded(w.n.Job.PE, w.n.Heap), at)
}

// guarded returns the program's view of the heap of pe of this host; heap is the runtime's view.
func (w *World) guarded(pe int, heap []byte) unsafe.Pointer {
	if w.check != nil && w.check.guard != nil {
		heap = w.check.guard.Heap(pe - w.n.FirstPE)
	}
	return node.BasePointer(heap)
}
