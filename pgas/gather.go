package pgas

// Gathers and broadcasts of Go values and slices, which are no symmetric memory: they check their arguments. Package
// coll has the algorithms.

import (
	"context"
	"reflect"

	"github.com/gopgas/gopgas/pgas/internal/coll"
)

// Gather returns to member root of t what all members give: element i of the result is mine of member i. The other
// members get nil. mine is any Go slice of plain data; it may be as long as each member likes, and empty. It is
// collective over t, with the same root and T on every member.
//
// It moves mine of all members to the root, in pieces through memory of the runtime, so it needs no symmetric memory
// and no length is too large for it. When it returns, mine may be reused, and all members have called it. On the root
// the result is complete: slices of its own that nothing else refers to. It completes and orders no put.
//
// It returns *MismatchError if the members call different collectives or give different roots or sizes of elements,
// *AbortedError, *PeerError, *NotesError, the cause of ctx, or ErrClosed (see Team). A gather that takes several rounds
// may be given up between them. It panics with *UsageError if T holds pointers, which mean nothing on another PE, if
// root is out of range, if t is no team of this PE, or if ctx is nil. It is an extension of OpenSHMEM.
func Gather[T any](ctx context.Context, t *Team, mine []T, root int) ([][]T, error) {
	t.member("Gather", root)
	mustHaveContext("Gather", ctx)
	mustBePlain(reflect.TypeFor[T](), "Gather")
	return coll.Gather(ctx, t.g, mine, root)
}

// AllGather is Gather to every member: element i of the result is mine of member i, on all of them. Of what PEs of
// other hosts give each PE fetches a share, which those of its host get from it; large data that is symmetric goes
// faster by Collect. Completion, order, errors and panics are those of Gather.
func AllGather[T any](ctx context.Context, t *Team, mine []T) ([][]T, error) {
	t.alive("AllGather")
	mustHaveContext("AllGather", ctx)
	mustBePlain(reflect.TypeFor[T](), "AllGather")
	return coll.AllGather(ctx, t.g, mine)
}

// BroadcastValue returns v of member root of t to every member; what the others give as v does not matter. It is
// collective over t, with the same root and T on every member.
//
// It moves v, and needs no symmetric memory. When it returns, the result is complete on this PE; the return says
// nothing about other members, and the root may wait for none. It completes and orders no put.
//
// It returns *MismatchError if the members call different collectives or give different roots or sizes, *AbortedError,
// *PeerError, *NotesError, the cause of ctx, or ErrClosed (see Team). It panics with *UsageError if T holds pointers,
// which mean nothing on another PE, if root is out of range, if t is no team of this PE, or if ctx is nil. It is an
// extension of OpenSHMEM.
func BroadcastValue[T any](ctx context.Context, t *Team, v T, root int) (T, error) {
	t.member("BroadcastValue", root)
	mustHaveContext("BroadcastValue", ctx)
	mustBePlain(reflect.TypeFor[T](), "BroadcastValue")
	return coll.BroadcastValue(ctx, t.g, v, root)
}

// BroadcastSlice returns v of member root of t to every member, whatever its length: v itself on the root, and a slice
// of their own on the others, which give nil. A string goes as []byte. For large symmetric data Broadcast is faster.
// Completion, order, errors and panics are those of BroadcastValue. One that takes several messages may be given up
// between them.
func BroadcastSlice[T any](ctx context.Context, t *Team, v []T, root int) ([]T, error) {
	t.member("BroadcastSlice", root)
	mustHaveContext("BroadcastSlice", ctx)
	mustBePlain(reflect.TypeFor[T](), "BroadcastSlice")
	return coll.BroadcastSlice(ctx, t.g, v, root)
}
