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

const edgeLen = 5 // words of an edge in a heap

// edgeWords is a WaitEdge in a heap: since (0: no edge), peer, kind, call, first<<32 | size.
type edgeWords [edgeLen]atomic.Uint64

var _ [boot.WaitEdgeBytes - unsafe.Sizeof(edgeWords{})]byte

func (n *Node) edgeWords() *edgeWords { return (*edgeWords)(n.Own(boot.WaitEdgeOff)) }

// publishEdge publishes e as this PE's edge, from now on. Its time is stored last, and cleared first.
func (n *Node) publishEdge(e WaitEdge) {
	words := n.edgeWords()
	words[1].Store(uint64(e.Peer))
	words[2].Store(uint64(e.Kind))
	words[3].Store(e.Call)
	words[4].Store(uint64(e.First)<<32 | uint64(e.Size))
	words[0].Store(uint64(n.Wall().UnixNano()))
}

// UpdateEdge replaces the peer of this PE's edge by what next returns for it, and returns that.
func (n *Node) UpdateEdge(next func(peer int) int) int {
	word := &n.edgeWords()[1]
	peer := next(int(word.Load()))
	word.Store(uint64(peer))
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
