package node

// Time and randomness: real, or those of the simulator.

import (
	"math/rand/v2"
	"time"
)

// Now returns the time since this PE joined its job: that of its clock, or of the scheduler.
func (n *Node) Now() time.Duration {
	if n.Sched != nil {
		return n.Sched.Now()
	}
	return time.Since(n.joined)
}

// Random returns a random number, which a scheduler chooses so that a program can be replayed.
func (n *Node) Random() uint64 {
	if n.Sched != nil {
		return n.Sched.Random()
	}
	return rand.Uint64()
}

// since is what a report of a blocked PE shows as its beginning.
func (n *Node) since() int64 {
	if n.Sched != nil {
		return int64(n.Sched.Now())
	}
	return time.Now().UnixNano()
}

// Wall is the time for reports of how long PEs wait.
func (n *Node) Wall() time.Time { return time.Unix(0, n.since()) }

// clock returns boot.Clock without a system call.
func (n *Node) clock() int64 { return n.clockAtJoin + int64(time.Since(n.joined)) }
