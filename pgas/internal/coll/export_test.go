package coll

// What tests of calls see and set.

import (
	"context"
	"encoding/binary"
	"errors"
)

// SetCalls sets the counters of a group without calls under way as if it had made n calls, and used n of its mailboxes.
// All members call it with the same n.
func (g *Group) SetCalls(n uint64) {
	u := &g.calls
	more := n - n%numMailboxes
	u.n, u.syncedCall = n, n
	u.usedMailboxes, u.freedMailboxes = u.usedMailboxes+more, u.usedMailboxes+more
}

// SizesByPull is what members of groups with more than a thousand of them do to learn the lengths of all blocks of a
// Collect: each contributes n, and gets what all have.
func (g *Group) SizesByPull(ctx context.Context, n uint64) ([]uint64, error) {
	all := make([]uint64, len(g.PEs))
	c := Collection{g: g, l: &g.layout, call: Call{Kind: KindCollect, Size: 1}, each: 8, sum: 8 * len(all)}
	err := c.pullAll(ctx, binary.NativeEndian.AppendUint64(nil, n), AsBytes(all))
	return all, err
}

// Calls returns how many calls the group has had, the barriers between them included.
func (g *Group) Calls() uint64 { return g.calls.n }

// SlotArrivals is how many calls a member can be ahead of another.
const SlotArrivals = slotArrivals

// HasLeftBefore reports whether member i has called Close without entering call n.
func (g *Group) HasLeftBefore(i int, n uint64) bool { return g.hasLeftBefore(i, n) }

// Adopt ends the use of the group because of what another member has found in a call. It returns the call in the report
// of this member, and the error that this member has.
func (g *Group) Adopt(call string) (reported string, err error) {
	err = g.adoptAbort(&reason{call: call, pe: 0, err: errors.New("it has given up")})
	return g.view.report().load().call, err
}
