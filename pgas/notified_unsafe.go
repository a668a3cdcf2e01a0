package pgas

// Notified accesses: one message moves data and leaves a notification at the target. The target waits for it with
// package notify, by source PE and tag.
//
// A notified access completes as others do: locally when it returns, and at the target after a Quiet of its context,
// when its notification is in the target's queue too. A notification arrives when its own access is complete at the
// target. It proves that access, and the earlier notified accesses of the same context to that PE, because
// notifications come in the order of issue. It proves nothing about accesses without a notification, unless a Fence
// stands between.
//
// If the target's queue is full, a notified access waits until there is room. If the target is lost meanwhile, the
// access is lost too, and the next Quiet reports it.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// MaxTag is the largest tag of a notified access; the least is 0.
const MaxTag = 1<<31 - 1

// stamp returns source and tag of the notification of an access. It panics with *UsageError if the tag is out of
// range.
func (c *Context) stamp(op string, tag int) transport.Stamp {
	if uint(tag) > MaxTag {
		misuse(op, "tag %d is out of range: use 0 to %d", tag, MaxTag)
	}
	return transport.StampOf(c.world(op).n.Job.PE, uint32(tag))
}

// isLocal reports whether pe's memory is mapped in this process and may be accessed without a transport that sees
// each access.
func (c *Context) isLocal(pe int) bool { return c != nil && uint(pe-c.firstPE) < uint(len(c.bases)) }

// Notify is Context.Notify on the default context.
func (w *World) Notify(pe, tag int) { w.Context().Notify(pe, tag) }

// Notify leaves a notification with the given tag at pe, and moves no data. The notification arrives after those of
// earlier notified accesses of c to pe, and after everything that c issued before a Fence between the two. It is in
// pe's queue after a Quiet, which also reports a lost PE (*PeerError) and a lack of room (*NotesError). It panics
// with *UsageError if pe or tag is out of range or c is closed.
func (c *Context) Notify(pe, tag int) { c.putNotify("Notify", pe, 0, nil, tag) }

// putNotify puts src and leaves a notification. src may be reused on return.
//
//go:noinline
func (c *Context) putNotify(op string, pe int, off uintptr, src []byte, tag int) {
	s, dst := c.stamp(op, tag), c.place(op, off, uintptr(len(src)))
	var r backpressure
	if c.isLocal(pe) {
		to := c.team.g.PEs[pe]
		for !c.mem.PutNotify(to, dst, src, s) && c.waitForSpace(to, &r) {
		}
	} else {
		via, to := c.routeTo(op, pe)
		for !via.PutNotify(to, dst, src, s) && c.waitForSpace(to, &r) {
		}
	}
	c.endBackpressure(&r)
}

// PutNotify copies src to the start of the range on pe and then leaves a notification with the given tag at pe: a
// target that has the notification sees src. src may be reused on return. Data and notification are complete at pe
// after a Quiet, which also reports a lost PE (*PeerError) and a lack of room (*NotesError). It panics with
// *UsageError if src is longer than the range, if pe or tag is out of range, or if the context is closed.
func (s Slice[T]) PutNotify(pe int, src []T, tag int) {
	checkFits("PutNotify", len(src), s.n)
	s.ctx.putNotify("PutNotify", pe, s.off, bytesOf(unsafe.SliceData(src), len(src)), tag)
}

// PutNotifyNB is PutNotify that need not wait until src has been read. As with PutNB, the program must not change src
// until the LocalCompletion is Done, or until a QuietLocal or Quiet of the context returns. It panics as PutNotify
// does.
func (s Slice[T]) PutNotifyNB(pe int, src []T, tag int) LocalCompletion {
	checkFits("PutNotifyNB", len(src), s.n)
	return s.ctx.putNotifyNB(pe, s.off, keptBytesOf(unsafe.SliceData(src), len(src)), tag)
}

// putNotifyNB is putNotify that need not wait until src has been read.
func (c *Context) putNotifyNB(pe int, off uintptr, src []byte, tag int) LocalCompletion {
	if c.isLocal(pe) {
		c.putNotify("PutNotifyNB", pe, off, src, tag)
		return LocalCompletion{}
	}
	s, dst := c.stamp("PutNotifyNB", tag), c.place("PutNotifyNB", off, uintptr(len(src)))
	via, to := c.routeTo("PutNotifyNB", pe)
	if via.zeroCopy == nil {
		c.putNotify("PutNotifyNB", pe, off, src, tag)
		return LocalCompletion{}
	}
	var r backpressure
	handle, ok := via.zeroCopy.PutNotifyZcopy(to, dst, src, s)
	for !ok && c.waitForSpace(to, &r) {
		handle, ok = via.zeroCopy.PutNotifyZcopy(to, dst, src, s)
	}
	c.endBackpressure(&r)
	return LocalCompletion{ctx: c, via: via.zeroCopy, pe: to, handle: handle}
}

// GetNotify fills dst from the start of the range on pe, waits for the data, and leaves a notification with the given
// tag at pe: a target that has the notification may overwrite what was read. It panics with *PeerError if pe is lost,
// with *NotesError if there is no room for the notification for too long, and with *UsageError as PutNotify does.
func (s Slice[T]) GetNotify(pe int, dst []T, tag int) {
	checkFits("GetNotify", len(dst), s.n)
	s.ctx.getNotify(pe, bytesOf(unsafe.SliceData(dst), len(dst)), s.off, tag)
}

// getNotify fills dst, and leaves a notification at pe. It panics with the error of the transport.
//
//go:noinline
func (c *Context) getNotify(pe int, dst []byte, off uintptr, tag int) {
	s, src := c.stamp("GetNotify", tag), c.place("GetNotify", off, uintptr(len(dst)))
	if c.isLocal(pe) && c.mem.GetNotifyNB(c.team.g.PEs[pe], dst, src, s) {
		return // without the record of what this PE is blocked in, which takes longer than the access
	}
	via, to := c.routeTo("GetNotify", pe)
	mark := c.w.n.Block(node.Blocked{Op: boot.InGet, Peer: to, Seq: src})
	defer func() { c.w.n.Unblock(mark) }()
	var r backpressure
	ok, err := via.GetNotify(c.w.n.Ctx, to, dst, src, s)
	for !ok && err == nil && c.mustWaitForRoom(to, &r) {
		ok, err = via.GetNotify(c.w.n.Ctx, to, dst, src, s)
	}
	if err != nil {
		panic(err)
	}
}

// mustWaitForRoom is waitForSpace for accesses that return a value: it panics, as a lost get does, if the wait is
// pointless.
func (c *Context) mustWaitForRoom(pe int, r *backpressure) bool {
	if !c.waitForSpace(pe, r) {
		_ = c.takeLeftError() // the panic tells it
		panic(r.err)
	}
	return true
}

// GetNotifyNB fills dst from the start of the range on pe at some time before the next Quiet returns; until then the
// program must not touch dst. The notification arrives at pe when the range has been read. It panics with *UsageError
// as PutNotify does; the Quiet reports what is lost.
func (s Slice[T]) GetNotifyNB(pe int, dst []T, tag int) {
	checkFits("GetNotifyNB", len(dst), s.n)
	s.ctx.getNotifyNB(pe, keptBytesOf(unsafe.SliceData(dst), len(dst)), s.off, tag)
}

// getNotifyNB issues a get into dst that leaves a notification at pe.
func (c *Context) getNotifyNB(pe int, dst []byte, off uintptr, tag int) {
	s, src := c.stamp("GetNotifyNB", tag), c.place("GetNotifyNB", off, uintptr(len(dst)))
	via, to := c.routeTo("GetNotifyNB", pe)
	var r backpressure
	for !via.GetNotifyNB(to, dst, src, s) && c.waitForSpace(to, &r) {
	}
	c.endBackpressure(&r)
}

// PutNotify copies *v into the element on pe and then leaves a notification with the given tag at pe: a target that
// has the notification sees the data. *v may be reused on return. Data and notification are complete at pe after a
// Quiet, which also reports a lost PE (*PeerError) and a lack of room (*NotesError). It panics with *UsageError if pe
// or tag is out of range or the context is closed.
func (r Ref[T]) PutNotify(pe int, v *T, tag int) {
	r.ctx.putNotify("PutNotify", pe, r.off, bytesOf(v, 1), tag)
}

// GetNotify returns the element on pe and leaves a notification with the given tag at pe: a target that has the
// notification may overwrite the element. It panics as Slice.GetNotify does.
func (r Ref[T]) GetNotify(pe int, tag int) T {
	var v T
	r.ctx.getNotify(pe, bytesOf(&v, 1), r.off, tag)
	return v
}

// NotifiedAtomic is an atomic word whose operations leave a notification at the PE whose copy they access.
//
// An operation that returns nothing is complete at pe after a Quiet, with its notification. That Quiet also reports a
// lost PE (*PeerError) and a lack of room (*NotesError). An operation that fetches panics with these errors. All
// operations panic with *UsageError if pe or the tag is out of range or the context is closed.
type NotifiedAtomic[W Word] struct {
	a   Atomic[W]
	tag int
}

// Notify returns the same word with operations that leave a notification with the given tag. The notification arrives
// when the operation has been executed. A compare-swap that does not find cond leaves it too.
func (a Atomic[W]) Notify(tag int) NotifiedAtomic[W] { return NotifiedAtomic[W]{a, tag} }

// Set stores v into the word on pe. It is complete at pe after a Quiet.
func (n NotifiedAtomic[W]) Set(pe int, v W) { n.post(pe, transport.Set, v) }

// Add adds v to the word on pe. It is complete at pe after a Quiet.
func (n NotifiedAtomic[W]) Add(pe int, v W) { n.post(pe, transport.Add, v) }

// Inc adds 1 to the word on pe. It is complete at pe after a Quiet.
func (n NotifiedAtomic[W]) Inc(pe int) { n.post(pe, transport.Add, 1) }

// And stores the bitwise and of the word on pe with v. It is complete at pe after a Quiet.
func (n NotifiedAtomic[W]) And(pe int, v W) { n.post(pe, transport.And, v) }

// Or stores the bitwise or of the word on pe with v. It is complete at pe after a Quiet.
func (n NotifiedAtomic[W]) Or(pe int, v W) { n.post(pe, transport.Or, v) }

// Xor stores the bitwise exclusive or of the word on pe with v. It is complete at pe after a Quiet.
func (n NotifiedAtomic[W]) Xor(pe int, v W) { n.post(pe, transport.Xor, v) }

// Min stores the lesser of v and the word on pe into the word. It is complete at pe after a Quiet.
func (n NotifiedAtomic[W]) Min(pe int, v W) { n.post(pe, opMin[W](), v) }

// Max stores the greater of v and the word on pe into the word. It is complete at pe after a Quiet.
func (n NotifiedAtomic[W]) Max(pe int, v W) { n.post(pe, opMax[W](), v) }

// Fetch returns the word on pe, and leaves a notification there. It panics as NotifiedAtomic says.
func (n NotifiedAtomic[W]) Fetch(pe int) W { return n.fetch(pe, transport.Fetch, 0, 0) }

// Swap stores v into the word on pe and returns the old value. It panics as NotifiedAtomic says.
func (n NotifiedAtomic[W]) Swap(pe int, v W) W { return n.fetch(pe, transport.Swap, v, 0) }

// CompareSwap stores v into the word on pe if the word equals cond, and returns the old value. It has stored v if and
// only if the result equals cond. It panics as NotifiedAtomic says.
func (n NotifiedAtomic[W]) CompareSwap(pe int, cond, v W) W {
	return n.fetch(pe, transport.CompareSwap, v, cond)
}

// FetchAdd adds v to the word on pe and returns the old value. It panics as NotifiedAtomic says.
func (n NotifiedAtomic[W]) FetchAdd(pe int, v W) W { return n.fetch(pe, transport.Add, v, 0) }

// FetchInc adds 1 to the word on pe and returns the old value. It panics as NotifiedAtomic says.
func (n NotifiedAtomic[W]) FetchInc(pe int) W { return n.fetch(pe, transport.Add, 1, 0) }

// FetchAnd stores the bitwise and of the word on pe with v, and returns the old value. It panics as NotifiedAtomic
// says.
func (n NotifiedAtomic[W]) FetchAnd(pe int, v W) W { return n.fetch(pe, transport.And, v, 0) }

// FetchOr stores the bitwise or of the word on pe with v, and returns the old value. It panics as NotifiedAtomic
// says.
func (n NotifiedAtomic[W]) FetchOr(pe int, v W) W { return n.fetch(pe, transport.Or, v, 0) }

// FetchXor stores the bitwise exclusive or of the word on pe with v, and returns the old value. It panics as
// NotifiedAtomic says.
func (n NotifiedAtomic[W]) FetchXor(pe int, v W) W { return n.fetch(pe, transport.Xor, v, 0) }

// FetchMin stores the lesser of v and the word on pe into the word, and returns the old value. It panics as
// NotifiedAtomic says.
func (n NotifiedAtomic[W]) FetchMin(pe int, v W) W { return n.fetch(pe, opMin[W](), v, 0) }

// FetchMax stores the greater of v and the word on pe into the word, and returns the old value. It panics as
// NotifiedAtomic says.
func (n NotifiedAtomic[W]) FetchMax(pe int, v W) W { return n.fetch(pe, opMax[W](), v, 0) }

// post issues op, which returns nothing, and its notification.
func (n NotifiedAtomic[W]) post(pe int, op transport.Op, v W) {
	n.a.ctx.postNotify(pe, op, n.a.word(), uint64(v), n.tag)
}

// fetch runs op, leaves its notification, and returns the old value.
func (n NotifiedAtomic[W]) fetch(pe int, op transport.Op, v, cond W) W {
	return W(n.a.ctx.atomicNotify(pe, op, n.a.word(), uint64(v), uint64(cond), n.tag))
}

// NotifiedFloat is a floating-point word whose operations leave a notification at the PE whose copy they access.
// Completion and panics are those of NotifiedAtomic.
type NotifiedFloat[F Float] struct {
	a   AtomicFloat[F]
	tag int
}

// Notify returns the same word with operations that leave a notification with the given tag, as Atomic.Notify does.
func (a AtomicFloat[F]) Notify(tag int) NotifiedFloat[F] { return NotifiedFloat[F]{a, tag} }

// Set stores v into the word on pe. It is complete at pe after a Quiet.
func (n NotifiedFloat[F]) Set(pe int, v F) { n.post(pe, transport.Set, v) }

// Add adds v to the word on pe. It is complete at pe after a Quiet.
func (n NotifiedFloat[F]) Add(pe int, v F) { n.post(pe, transport.AddFloat, v) }

// Swap stores v into the word on pe and returns the old value. It panics as NotifiedAtomic says.
func (n NotifiedFloat[F]) Swap(pe int, v F) F { return n.fetch(pe, transport.Swap, v) }

// FetchAdd adds v to the word on pe and returns the old value. It panics as NotifiedAtomic says.
func (n NotifiedFloat[F]) FetchAdd(pe int, v F) F { return n.fetch(pe, transport.AddFloat, v) }

// post issues op, which returns nothing, and its notification.
func (n NotifiedFloat[F]) post(pe int, op transport.Op, v F) {
	n.a.ctx.postNotify(pe, op, n.a.word(), toBits(v), n.tag)
}

// fetch runs op, leaves its notification, and returns the old value.
func (n NotifiedFloat[F]) fetch(pe int, op transport.Op, v F) F {
	return fromBits[F](n.a.ctx.atomicNotify(pe, op, n.a.word(), toBits(v), 0, n.tag))
}

// postNotify issues an atomic without a result, and its notification.
//
//go:noinline
func (c *Context) postNotify(pe int, op transport.Op, at transport.Word, operand uint64, tag int) {
	s := c.stamp("Notify", tag)
	via, to := c.routeTo(op.String(), pe)
	var r backpressure
	for !via.PostNotify(to, op, at, operand, s) && c.waitForSpace(to, &r) {
	}
	c.endBackpressure(&r)
}

// atomicNotify runs a fetching atomic and leaves its notification. It panics with the error of the transport.
//
//go:noinline
func (c *Context) atomicNotify(pe int, op transport.Op, at transport.Word, operand, cond uint64, tag int) uint64 {
	s := c.stamp("Notify", tag)
	via, to := c.routeTo(op.String(), pe)
	mark := c.w.n.Block(node.Blocked{Op: boot.InAtomic, Peer: to, Seq: at.Off})
	defer func() { c.w.n.Unblock(mark) }()
	var r backpressure
	old, ok, err := via.AtomicNotify(c.w.n.Ctx, to, op, at, operand, cond, s)
	for !ok && err == nil && c.mustWaitForRoom(to, &r) {
		old, ok, err = via.AtomicNotify(c.w.n.Ctx, to, op, at, operand, cond, s)
	}
	if err != nil {
		panic(err)
	}
	return old
}
