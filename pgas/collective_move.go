package pgas

// The collectives that move data: their arguments. Package coll has the algorithms.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Broadcast copies src of member root to dst of every member, including the root's own unless ExceptRoot is
// given (OpenSHMEM 1.6, shmem_broadcast).
//
// As many elements move as src has; dst must have room for them. Both are the same ranges on all members,
// which must not overlap unless they start at the same element. When Broadcast returns, dst is complete on
// this PE, and src may be reused; nothing is said about other members. dst is written only while its owner
// is in the call: no barrier is needed before it.
//
// All members must call it with the same arguments; when they do not, they get a *MismatchError. A member
// that dies ends it with *PeerError, the end of ctx with its cause; the team is of no use then. The
// algorithms are Linear and Tree.
func Broadcast[T any](ctx context.Context, t *Team, dst, src Slice[T], root int, opts ...CollectiveOption) error {
	var b coll.Broadcast
	t.member("Broadcast", root)
	d, s := operands("broadcast", t, dst, src)
	b.Prepare(t.g, d, s, root, optionsOf(opts))
	mustHaveContext("Broadcast", ctx)
	return b.Run(ctx)
}

// BroadcastNB starts Broadcast. Until the Request is complete, dst and src belong to it.
func BroadcastNB[T any](ctx context.Context, t *Team, dst, src Slice[T], root int, opts ...CollectiveOption) *Request {
	var b coll.Broadcast
	t.member("Broadcast", root)
	d, s := operands("broadcast", t, dst, src)
	b.Prepare(t.g, d, s, root, optionsOf(opts))
	return t.start(ctx, b.Run)
}

// FCollect sets dst on every member to the concatenation of src of all members, in the order of the team
// (OpenSHMEM 1.6, shmem_fcollect).
//
// src has the same length on all members, and dst room for as many times that as there are members. Both
// are the same ranges on all members and must not overlap. When FCollect returns, dst is complete on this
// PE, and src may be reused; nothing is said about other members. dst is written only while its owner is
// in the call: no barrier is needed before it.
//
// All members must call it with the same arguments; when they do not, they get a *MismatchError. A member
// that dies ends it with *PeerError, the end of ctx with its cause; the team is of no use then. The
// algorithms are Linear, Ring and Doubling.
func FCollect[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	var c coll.Collection
	d, s := operands("fcollect", t, dst, src)
	c.PrepareF(t.g, d, s, optionsOf(opts))
	mustHaveContext("FCollect", ctx)
	return c.Fcollect(ctx)
}

// FCollectNB starts FCollect. Until the Request is complete, dst and src belong to it.
func FCollectNB[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	var c coll.Collection
	d, s := operands("fcollect", t, dst, src)
	c.PrepareF(t.g, d, s, optionsOf(opts))
	return t.start(ctx, c.Fcollect)
}

// Collect is FCollect where src may have a different length on each member, and may be empty. It returns
// the number of elements that all members have contributed together; dst must have room for them
// (OpenSHMEM 1.6, shmem_collect).
func Collect[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) (n int, err error) {
	var c coll.Collection
	d, s := operands("collect", t, dst, src)
	c.Prepare(t.g, d, s, optionsOf(opts))
	mustHaveContext("Collect", ctx)
	err = c.Collect(ctx)
	return c.Elements(), err
}

// CollectNB starts Collect. Until the Request is complete, dst and src belong to it, and so does *n unless
// n is nil: it becomes the number of elements.
func CollectNB[T any](ctx context.Context, t *Team, dst, src Slice[T], n *int, opts ...CollectiveOption) *Request {
	var c coll.Collection
	d, s := operands("collect", t, dst, src)
	c.Prepare(t.g, d, s, optionsOf(opts))
	return t.start(ctx, func(ctx context.Context) error {
		err := c.Collect(ctx)
		if n != nil {
			*n = c.Elements()
		}
		return err
	})
}

// AllToAll sends block j of src of each member i to block i of dst of member j. src has a block of equal
// length for each member of t, its own included, and dst has room for as much
// (OpenSHMEM 1.6, shmem_alltoall).
//
// dst and src are the same ranges on all members and must not overlap. When AllToAll returns, dst is
// complete on this PE, and src may be reused; nothing is said about other members. dst is written only
// while its owner is in the call: no barrier is needed before it.
//
// All members must call it with the same arguments; when they do not, they get a *MismatchError. A member
// that dies ends it with *PeerError, the end of ctx with its cause; the team is of no use then. The
// algorithms are Linear and Ring.
func AllToAll[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	var a coll.AllToAll
	d, s := operands("alltoall", t, dst, src)
	a.Prepare(t.g, d, s, optionsOf(opts))
	mustHaveContext("AllToAll", ctx)
	return a.Run(ctx)
}

// AllToAllNB starts AllToAll. Until the Request is complete, dst and src belong to it.
func AllToAllNB[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	var a coll.AllToAll
	d, s := operands("alltoall", t, dst, src)
	a.Prepare(t.g, d, s, optionsOf(opts))
	return t.start(ctx, a.Run)
}

// AllToAllS is AllToAll with blocks of n elements that are dstStride elements apart in dst and srcStride
// in src: element e of block j is element (j*n+e)*stride. What lies between is not touched
// (OpenSHMEM 1.6, shmem_alltoalls).
func AllToAllS[T any](ctx context.Context, t *Team, dst, src Slice[T], dstStride, srcStride, n int, opts ...CollectiveOption) error {
	var a coll.AllToAll
	d, s := operands("alltoalls", t, dst, src)
	a.PrepareS(t.g, d, s, dstStride, srcStride, n, optionsOf(opts))
	mustHaveContext("AllToAllS", ctx)
	return a.Run(ctx)
}

// AllToAllSNB starts AllToAllS. Until the Request is complete, dst and src belong to it.
func AllToAllSNB[T any](ctx context.Context, t *Team, dst, src Slice[T], dstStride, srcStride, n int, opts ...CollectiveOption) *Request {
	var a coll.AllToAll
	d, s := operands("alltoalls", t, dst, src)
	a.PrepareS(t.g, d, s, dstStride, srcStride, n, optionsOf(opts))
	return t.start(ctx, a.Run)
}

// Blocks says where the blocks for or from each member of a team are in a range: block i is Counts[i]
// elements from Displs[i] on.
type Blocks struct {
	Displs, Counts []int
}

// AllToAllV is AllToAll with blocks of any length anywhere in src and dst: block j of src, as from says,
// goes from member i to block i of dst of member j, as to says there. The two must be equally long; if
// they are not, both members get a *MismatchError. Blocks of dst must not overlap.
//
// It is not in the specification. What AllToAll says holds for it too.
func AllToAllV[T any](ctx context.Context, t *Team, dst Slice[T], to Blocks, src Slice[T], from Blocks, opts ...CollectiveOption) error {
	d, s := operands("alltoallv", t, dst, src)
	a := t.g.AllToAllVOf(d, coll.Blocks(to), s, coll.Blocks(from), optionsOf(opts))
	mustHaveContext("AllToAllV", ctx)
	return a.Run(ctx)
}

// AllToAllVNB starts AllToAllV. Until the Request is complete, dst, src, to and from belong to it.
func AllToAllVNB[T any](ctx context.Context, t *Team, dst Slice[T], to Blocks, src Slice[T], from Blocks, opts ...CollectiveOption) *Request {
	d, s := operands("alltoallv", t, dst, src)
	a := t.g.AllToAllVOf(d, coll.Blocks(to), s, coll.Blocks(from), optionsOf(opts))
	return t.start(ctx, a.Run)
}

// operands checks the operands of a collective, and returns where they are.
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

// operandOf returns where s is.
func operandOf[T any](s Slice[T]) coll.Range {
	off := s.off
	if s.ctx != nil {
		off = uintptr(s.place("collective"))
	}
	return coll.Range{Off: off, N: s.n, Size: int(node.SizeOf[T]())}
}
