package pgas

// References to single elements. A reference is a context and an offset, never an address: each process
// maps a heap at an address of its own. Sym.At has checked the bounds when it made the reference, so an access
// only has to find the PE: one comparison, one load, one store.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Ref refers to one element of symmetric memory, at the same offset on every PE. It is small and is passed by value.
//
// All its operations panic with *UsageError if the PE is out of range or the context is closed.
type Ref[T any] struct {
	ctx *Context
	off uintptr
}

// Put copies v into the element on pe. It is complete locally on return. It is complete and visible at pe after a
// Quiet. A Fence orders it before later puts and atomics to the same PE. If pe is lost, the next Quiet reports it
// (OpenSHMEM 1.6, shmem_p).
//
//gcassert:inline
func (r Ref[T]) Put(pe int, v T) {
	store(r.ctx, r.off, pe, v, slowPut)
}

// Get returns the element on pe. It blocks until the value has arrived. It panics with *PeerError if pe is lost
// (OpenSHMEM 1.6, shmem_g).
//
//gcassert:inline
func (r Ref[T]) Get(pe int) T {
	return fetch[T](r.ctx, r.off, pe, slowGet)
}

// PutNB copies *v into the element on pe, as Put does. A single element is copied at once, so the LocalCompletion is
// done on return (OpenSHMEM 1.6, shmem_put_nbi).
func (r Ref[T]) PutNB(pe int, v *T) LocalCompletion {
	if p := r.ctx.addr(pe, r.off); p != nil {
		*(*T)(p) = *v
	} else {
		slowPut(r.ctx, pe, r.off, unsafe.Pointer(v), unsafe.Sizeof(*v))
	}
	return LocalCompletion{}
}

// GetNB copies the element on pe to *dst at some time before the next Quiet returns. Until then the program must
// neither read nor write *dst. If pe is lost, the next Quiet reports it, and *dst is undefined
// (OpenSHMEM 1.6, shmem_get_nbi).
func (r Ref[T]) GetNB(pe int, dst *T) {
	if p := r.ctx.addr(pe, r.off); p != nil {
		*dst = *(*T)(p)
		return
	}
	via, to := r.ctx.routeTo("GetNB", pe)
	via.GetNB(to, keptBytesOf(dst, 1), r.ctx.place("GetNB", r.off, unsafe.Sizeof(*dst)))
}

// PutSignal copies *v into the element on pe and then sets the signal on pe to value. It is complete locally on
// return. A PE that sees the new value of the signal also sees *v. The signal covers this payload only, and no earlier
// put: for those, call Fence first. If pe is lost, the next Quiet reports it
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

// PutSignalAdd copies as PutSignal does, and adds value to the signal atomically
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

// PutSignalNB copies and signals as PutSignal does. A single element is copied at once, so the LocalCompletion is done
// on return (OpenSHMEM 1.6, shmem_put_signal_nbi with SHMEM_SIGNAL_SET).
func (r Ref[T]) PutSignalNB(pe int, v *T, sig SignalRef, value uint64) LocalCompletion {
	r.PutSignal(pe, v, sig, value)
	return LocalCompletion{}
}

// PutSignalAddNB copies as PutSignalNB does, and adds value to the signal atomically (OpenSHMEM 1.6,
// shmem_put_signal_nbi with SHMEM_SIGNAL_ADD).
func (r Ref[T]) PutSignalAddNB(pe int, v *T, sig SignalRef, value uint64) LocalCompletion {
	r.PutSignalAdd(pe, v, sig, value)
	return LocalCompletion{}
}

// Local returns a pointer to the calling PE's own copy of the element. It is valid until the allocation is freed.
func (r Ref[T]) Local() *T { return (*T)(r.ctx.w.local(r.off, node.SizeOf[T](), localChecked)) }

// Slice returns the range that consists of this element.
func (r Ref[T]) Slice() Slice[T] { return Slice[T]{r.ctx, r.off, 1} }

// On returns a reference to the same element whose operations are issued on c. PE numbers are then those of c's team.
func (r Ref[T]) On(c *Context) Ref[T] {
	if r.ctx == nil { // by hand: with refer, the accessors that pgasgen writes would not be inlined
		zeroOn()
	}
	return Ref[T]{c, r.off}
}

// mustGet blocks until dst is filled from offset src of pe's heap. It panics with *PeerError if pe is lost: a blocking
// get returns no error.
func (c *Context) mustGet(op string, pe int, dst []byte, src uint64) {
	via, to := c.routeTo(op, pe)
	src = c.place(op, uintptr(src), uintptr(len(dst)))
	if via == c.local { // memory of this host: nothing to wait for
		via.Get(c.w.n.Ctx, to, dst, src)
		return
	}
	mark := c.w.n.Block(node.Blocked{Op: boot.InGet, Peer: to, Seq: src})
	err := via.Get(c.w.n.Ctx, to, dst, src)
	c.w.n.Unblock(mark)
	if err != nil {
		panic(err)
	}
}

// putSignal puts src and then updates sig, through the transport.
func (c *Context) putSignal(op string, pe int, off uintptr, src []byte, sig SignalRef, how transport.Op, value uint64) {
	via, to := c.routeTo(op, pe)
	w := sig.ctx.world(op)
	dst, word := c.place(op, off, uintptr(len(src))), c.place(op, sig.off, 8)
	w.check.update(op, to, word, how)
	via.PutSignal(to, dst, src, word, how, value)
}

// putSignalNB puts src and then updates sig as putSignal does, without a copy of src if the channel can do that.
func (c *Context) putSignalNB(op string, pe int, off uintptr, src []byte, sig SignalRef, how transport.Op, value uint64) LocalCompletion {
	via, to := c.routeTo(op, pe)
	if via.zeroCopy == nil {
		c.putSignal(op, pe, off, src, sig, how, value)
		return LocalCompletion{}
	}
	w := sig.ctx.world(op)
	dst, word := c.place(op, off, uintptr(len(src))), c.place(op, sig.off, 8)
	w.check.update(op, to, word, how)
	return LocalCompletion{ctx: c, via: via.zeroCopy, pe: to, handle: via.zeroCopy.PutSignalZcopy(to, dst, src, word, how, value)}
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
// fastpath_unsafe.go says why checked is a parameter.
func (w *World) local(off, n uintptr, checked func(w *World, off, n uintptr) unsafe.Pointer) unsafe.Pointer {
	if off>>generationShift == 0 {
		return unsafe.Add(w.n.HeapBase.P, off)
	}
	return checked(w, off, n)
}

// localChecked returns that address in the guarded view, if there is one. It panics with *UsageError if the allocation
// does not live.
//
//go:noinline
func localChecked(w *World, off, n uintptr) unsafe.Pointer {
	at := w.check.place("Local", off, n)
	return unsafe.Add(w.guarded(w.n.Job.PE, w.n.Heap), at)
}

// guarded returns the address of the heap of pe, a PE of this host, in the view of the program. heap is the same heap
// in the view of the runtime.
func (w *World) guarded(pe int, heap []byte) unsafe.Pointer {
	if w.check != nil && w.check.guard != nil {
		heap = w.check.guard.Heap(pe - w.n.FirstPE)
	}
	return node.BasePointer(heap)
}
