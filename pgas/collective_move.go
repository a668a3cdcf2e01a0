package pgas

// The collectives that move data: they check their arguments. Package coll has the algorithms.

import (
	"context"
	"reflect"

	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Broadcast copies src of member root to dst of every member, including the root's own unless ExceptRoot is given
// (OpenSHMEM 1.6, shmem_broadcast).
//
// It moves as many elements as src has; dst must have room for them. dst and src are the same ranges on all members,
// and must not overlap unless they start at the same element. When Broadcast returns, dst is complete on this PE, and
// src may be reused; the return says nothing about other members. dst is written only while its owner is in the call:
// no barrier is needed before it. After an error another member may still write to dst, if that was stopped, until it
// ends.
//
// It returns *MismatchError if the members give different arguments, *AbortedError, *PeerError, *NotesError, the
// cause of ctx, or ErrClosed (see Team). It panics with *UsageError if the
// arguments do not fit together or root is out of range. The algorithms are Linear and Tree.
func Broadcast[T any](ctx context.Context, t *Team, dst, src Slice[T], root int, opts ...CollectiveOption) error {
	var b coll.Broadcast
	t.member("Broadcast", root)
	d, s := operands("broadcast", t, dst, src)
	b.Prepare(t.g, reflect.TypeFor[T](), d, s, root, optionsOf(opts))
	mustHaveContext("Broadcast", ctx)
	return b.Run(ctx)
}

// BroadcastNB starts Broadcast. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of Broadcast; BroadcastNB panics as Broadcast does.
func BroadcastNB[T any](ctx context.Context, t *Team, dst, src Slice[T], root int, opts ...CollectiveOption) *Request {
	var b coll.Broadcast
	t.member("Broadcast", root)
	d, s := operands("broadcast", t, dst, src)
	b.Prepare(t.g, reflect.TypeFor[T](), d, s, root, optionsOf(opts))
	return t.start(ctx, d, s, b.Run)
}

// FCollect sets dst on every member to the concatenation of src of all members, in the order of the team (OpenSHMEM
// 1.6, shmem_fcollect).
//
// src has the same length on all members, and dst has room for that length times the number of members. dst and src are
// the same ranges on all members and must not overlap. When FCollect returns, dst is complete on this PE, and src may
// be reused; the return says nothing about other members. dst is written only while its owner is in the call: no
// barrier is needed before it. After an error another member may still write to dst, if that was stopped, until it
// ends.
//
// It returns *MismatchError if the members give different arguments, *AbortedError, *PeerError, *NotesError, the
// cause of ctx, or ErrClosed (see Team). It panics with *UsageError if the
// arguments do not fit together. The algorithms are Linear, Ring and RecursiveDoubling.
func FCollect[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	var c coll.Collection
	d, s := operands("fcollect", t, dst, src)
	c.PrepareF(t.g, reflect.TypeFor[T](), d, s, optionsOf(opts))
	mustHaveContext("FCollect", ctx)
	return c.Fcollect(ctx)
}

// FCollectNB starts FCollect. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of FCollect; FCollectNB panics as FCollect does.
func FCollectNB[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	var c coll.Collection
	d, s := operands("fcollect", t, dst, src)
	c.PrepareF(t.g, reflect.TypeFor[T](), d, s, optionsOf(opts))
	return t.start(ctx, d, s, c.Fcollect)
}

// Collect is FCollect where src may have a different length on each member, and may be empty. It returns the number
// of elements that all members have contributed together; dst must have room for them. Its errors and panics are
// those of FCollect (OpenSHMEM 1.6, shmem_collect).
func Collect[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) (n int, err error) {
	var c coll.Collection
	d, s := operands("collect", t, dst, src)
	c.Prepare(t.g, reflect.TypeFor[T](), d, s, optionsOf(opts))
	mustHaveContext("Collect", ctx)
	err = c.Collect(ctx)
	return c.Elements(), err
}

// CollectNB starts Collect. *n, unless n is nil, becomes the number of elements. The program must not touch dst, src
// and *n until the Request is complete. Request.Wait returns the errors of Collect; CollectNB panics as Collect does.
func CollectNB[T any](ctx context.Context, t *Team, dst, src Slice[T], n *int, opts ...CollectiveOption) *Request {
	var c coll.Collection
	d, s := operands("collect", t, dst, src)
	c.Prepare(t.g, reflect.TypeFor[T](), d, s, optionsOf(opts))
	return t.start(ctx, d, s, func(ctx context.Context) error {
		err := c.Collect(ctx)
		if n != nil {
			*n = c.Elements()
		}
		return err
	})
}

// AllToAll copies block j of src of each member i to block i of dst of member j. src has one block for each member of
// t, this one included, and all blocks are equally long; dst has room for as many elements (OpenSHMEM 1.6,
// shmem_alltoall).
//
// dst and src are the same ranges on all members and must not overlap. When AllToAll returns, dst is complete on this
// PE, and src may be reused; the return says nothing about other members. dst is written only while its owner is in the
// call: no barrier is needed before it. After an error another member may still write to dst, if that was stopped,
// until it ends.
//
// It returns *MismatchError if the members give different arguments, *AbortedError, *PeerError, *NotesError, the
// cause of ctx, or ErrClosed (see Team). It panics with *UsageError if the
// arguments do not fit together. The algorithms are Linear and Ring.
func AllToAll[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	var a coll.AllToAll
	d, s := operands("alltoall", t, dst, src)
	a.Prepare(t.g, reflect.TypeFor[T](), d, s, optionsOf(opts))
	mustHaveContext("AllToAll", ctx)
	return a.Run(ctx)
}

// AllToAllNB starts AllToAll. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of AllToAll; AllToAllNB panics as AllToAll does.
func AllToAllNB[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	var a coll.AllToAll
	d, s := operands("alltoall", t, dst, src)
	a.Prepare(t.g, reflect.TypeFor[T](), d, s, optionsOf(opts))
	return t.start(ctx, d, s, a.Run)
}

// AllToAllS is AllToAll with blocks of n elements that are dstStride elements apart in dst and srcStride in src:
// element e of block j is element (j*n+e)*stride of its range. The elements in between are neither read nor written.
// Its errors and panics are those of AllToAll (OpenSHMEM 1.6, shmem_alltoalls).
func AllToAllS[T any](ctx context.Context, t *Team, dst, src Slice[T], dstStride, srcStride, n int, opts ...CollectiveOption) error {
	var a coll.AllToAll
	d, s := operands("alltoalls", t, dst, src)
	a.PrepareS(t.g, reflect.TypeFor[T](), d, s, dstStride, srcStride, n, optionsOf(opts))
	mustHaveContext("AllToAllS", ctx)
	return a.Run(ctx)
}

// AllToAllSNB starts AllToAllS. The program must not touch dst and src until the Request is complete. Request.Wait
// returns the errors of AllToAll; AllToAllSNB panics as AllToAll does.
func AllToAllSNB[T any](ctx context.Context, t *Team, dst, src Slice[T], dstStride, srcStride, n int, opts ...CollectiveOption) *Request {
	var a coll.AllToAll
	d, s := operands("alltoalls", t, dst, src)
	a.PrepareS(t.g, reflect.TypeFor[T](), d, s, dstStride, srcStride, n, optionsOf(opts))
	return t.start(ctx, d, s, a.Run)
}

// Blocks gives the place in a range of the block for or from each member of a team: block i is the Counts[i] elements
// from element Displs[i] on.
type Blocks struct {
	Displs, Counts []int
}

// AllToAllV is AllToAll with blocks of any length anywhere in src and dst, as MPI_Alltoallv has them. Block j of src
// on member i (from.Counts[j] elements at from.Displs[j]) is copied to block i of dst on member j (to.Counts[i]
// elements at to.Displs[i]). The two must be equally long; if they are not, both members return *MismatchError.
// Blocks of dst must not overlap.
//
// It is an extension of OpenSHMEM. Completion, errors and panics are those of AllToAll. The algorithm is Linear.
func AllToAllV[T any](ctx context.Context, t *Team, dst Slice[T], to Blocks, src Slice[T], from Blocks, opts ...CollectiveOption) error {
	d, s := operands("alltoallv", t, dst, src)
	a := t.g.AllToAllVOf(reflect.TypeFor[T](), d, coll.Blocks(to), s, coll.Blocks(from), optionsOf(opts))
	mustHaveContext("AllToAllV", ctx)
	return a.Run(ctx)
}

// AllToAllVNB starts AllToAllV. The program must not touch dst, src, to and from until the Request is complete.
// Request.Wait returns the errors of AllToAllV; AllToAllVNB panics as AllToAllV does.
func AllToAllVNB[T any](ctx context.Context, t *Team, dst Slice[T], to Blocks, src Slice[T], from Blocks, opts ...CollectiveOption) *Request {
	d, s := operands("alltoallv", t, dst, src)
	a := t.g.AllToAllVOf(reflect.TypeFor[T](), d, coll.Blocks(to), s, coll.Blocks(from), optionsOf(opts))
	return t.start(ctx, d, s, a.Run)
}

// operands checks the operands of a collective, and returns their ranges of the heap. It panics with *UsageError if
// they are zero or belong to another World than t.
func operands[T any](op string, t *Team, dst, src Slice[T]) (d, s coll.Range) {
	t.alive(op)
	for _, c := range [...]*Context{dst.ctx, src.ctx} {
		if c != nil && c.w != t.w {
			misuse(op, "dst or src is memory of another World than team %s", t.g.Name)
		}
	}
	if dst.ctx == nil && dst.n > 0 || src.ctx == nil && src.n > 0 {
		misuse(op, "dst or src is "+zeroReference)
	}
	return operandOf(dst), operandOf(src)
}

// operandOf returns the range of the heap that s refers to.
func operandOf[T any](s Slice[T]) coll.Range {
	off := s.off
	if s.ctx != nil {
		off = uintptr(s.place("collective"))
	}
	return coll.Range{Off: off, N: s.n, Size: int(node.SizeOf[T]())}
}
