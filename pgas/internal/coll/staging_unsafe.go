package coll

// Staging areas: where large messages between hosts arrive while their destination is still in use. A PE has a few
// areas in the reserved start of its heap, beside the slots of its teams. A team takes one on each leader when its
// leaders first exchange a message that large, and the leaders tell each other the offsets. If a leader has no
// area left, the team does without.
//
// An area has two halves, for even and odd calls. A leader that is in a call has the results of the call
// before from all others, so all others are through with the call before that: its half is free.

import (
	"context"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// releaseStaging gives back this PE's area of l.
func (g *Group) releaseStaging(l *layout) {
	if l.staging.offs != nil {
		g.set.staging.free(l.staging.offs[l.hostIndex])
	}
}

// exchangeStaging tells the other leaders the offset of this leader's area and learns theirs, in one mailbox for
// each host.
func (g *Group) exchangeStaging(ctx context.Context, l *layout) error {
	n := len(l.hosts)
	x, mine := g.takeMailboxes(n), [1]uint64{g.set.staging.take()}
	at := make([]uint64, n)
	for d := 1; d < n; d++ {
		g.send(l.hosts[(l.hostIndex+d)%n][0], x+mailbox(l.hostIndex), AsBytes(mine[:]))
	}
	all := mine[0] != 0
	for h := range n {
		at[h] = mine[0]
		if h != l.hostIndex {
			if err := g.awaitMailbox(ctx, x+mailbox(h), l.hosts[h][0]); err != nil {
				return err
			}
			at[h] = viewAs[uint64](g.received(x+mailbox(h), 8), 1)[0]
		}
		all = all && at[h] != 0
	}
	if all {
		l.staging.offs = at
	} else if mine[0] != 0 {
		g.set.staging.free(mine[0])
	}
	return nil
}

// stagedData returns the elements that have arrived at off of this PE's heap.
func stagedData[T any](n *node.Node, off uint64, count int) []T {
	return unsafe.Slice((*T)(n.Own(uintptr(off))), count)
}
