package node

// The wait edges of PEs. A PE that is blocked in a collective publishes in its heap which PE it waits for, and in
// which call of which team. Other PEs follow these edges to find a cycle: a deadlock of overlapping teams whose
// members call their collectives in different orders.

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
)

const edgeLen = 6 // words of an edge in a heap that other PEs read

// edgeWords is a WaitEdge in a heap: since (0: no edge), peer, kind, call, first<<32 | size, seen, and the peer that
// the wait was begun for.
type edgeWords [edgeLen + 1]atomic.Uint64

var _ [boot.WaitEdgeBytes - unsafe.Sizeof(edgeWords{})]byte

func (n *Node) edgeWords() *edgeWords { return (*edgeWords)(n.Own(boot.WaitEdgeOff)) }

// publishEdge publishes e as this PE's edge, from now on, of a wait for peer. Its time is stored last, and cleared
// first.
func (n *Node) publishEdge(e WaitEdge, peer int) {
	words := n.edgeWords()
	words[1].Store(uint64(e.Peer))
	words[2].Store(uint64(e.Kind))
	words[3].Store(e.Call)
	words[4].Store(uint64(e.First)<<32 | uint64(e.Size))
	words[5].Store(0) // a cycle needs edges that have been looked at since all waits of the cycle began
	words[6].Store(uint64(peer))
	words[0].Store(uint64(n.Wall().UnixNano()))
}

// UpdateEdge replaces the peer of this PE's edge by what next returns for the peer that the wait was begun for, and
// returns that.
func (n *Node) UpdateEdge(next func(peer int) int) int {
	words := n.edgeWords()
	now := n.Wall().UnixNano()
	peer := next(int(words[6].Load()))
	if peer != int(words[1].Load()) {
		words[1].Store(uint64(peer))
	}
	words[5].Store(uint64(now))
	return peer
}

// clearEdge withdraws this PE's edge.
func (n *Node) clearEdge() { n.edgeWords()[0].Store(0) }

// FirstRemoteCheck is how long a wait lasts before the waiter reads the memory of members on other hosts.
const FirstRemoteCheck = 500 * time.Millisecond

// CycleTimeout returns how long the PEs of a cycle of wait edges must have waited for it to count as a deadlock.
func (n *Node) CycleTimeout() time.Duration {
	if d := n.Job.Settings.PeerTimeout; d > 0 {
		return d
	}
	return boot.DefaultPeerTimeout
}
