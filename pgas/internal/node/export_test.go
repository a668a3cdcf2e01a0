package node

// What tests of waits see, and set, to make events happen in an order.

import "math"

// Slept returns how many waits of n so far have gone to sleep.
func (n *Node) Slept() int64 { return n.waiters.slept.Load() }

// PolledInVain returns how many of them have polled for as long as a wait may.
func (n *Node) PolledInVain() int64 { return n.waiters.inVain.Load() }

// Parked returns how many goroutines of n are parked because others poll.
func (n *Node) Parked() int { return int(n.waiters.parked.Load()) }

// PollForever makes waits of n that begin from now on never sleep, whatever other programs do.
func (n *Node) PollForever() { n.Policy.yields, n.contention = math.MaxInt, nil }
