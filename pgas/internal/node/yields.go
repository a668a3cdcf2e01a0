package node

// Yields of the CPU, what they cost, and polling in their place. boot/contention.go has the rules.

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

// yields is a row of yields of one waiter, from beginYields to end.
type yields struct {
	node   *Node
	known  *boot.Contention // what the node knows of other programs
	looked int64            // when the waiter last had the CPU
	clean  int              // number of yields that have not lost a slice
	prober bool
	missed bool // the waiter has lost a slice
	lost   bool // the waiter has lost a slice that counts, or was advised to sleep

	polling bool // the waiter polls for longer, without yields
}

// beginYields begins a row of yields. Where PEs share CPUs, a waiter in a queue asks for no advice: see policy.go.
func (n *Node) beginYields(queued bool) yields {
	y := yields{node: n, known: n.contention}
	if queued && n.Policy.Oversubscribed {
		y.known = nil
	}
	if y.known != nil {
		y.looked = n.clock()
		advice := y.known.Advise(y.looked)
		y.prober, y.lost = advice == boot.Probe, advice == boot.SleepNow
	}
	return y
}

// sleeps reports whether the waiter is to sleep in place of its next yield.
func (y *yields) sleeps() bool {
	return y.lost || !y.prober && y.known != nil && y.known.Sleeps(y.looked)
}

// yield lets another PE run, and notes whether that has cost a time slice.
func (y *yields) yield() {
	if y.node.Policy.goroutine {
		runtime.Gosched()
		return
	}
	unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	if y.known == nil {
		return
	}
	began := y.looked
	y.looked = y.node.clock()
	if lost := y.looked - began; lost < int64(boot.LostSlice) || !y.counts(lost) {
		y.clean++
		return
	}
	y.known.Lost(began, y.looked, y.prober)
	y.lost = true
}

// counts reports whether a slice that the waiter has lost shows that another program wants its CPU. Where PEs share
// CPUs, a PE for which all others wait may compute for many slices. So there one wait tells no more than one slice
// does, and several waits in a row must have lost one before it counts.
func (y *yields) counts(lost int64) bool {
	c, first := &y.node.waiters, !y.missed
	y.missed = true
	switch {
	case boot.Paid(lost, c.met.Swap(0)):
		c.unpaid.Store(0)
		return false
	case !y.node.Policy.Oversubscribed:
		return true
	case first:
		c.unpaid.Add(1)
	}
	return first && c.unpaid.Load() >= unpaidWaits
}

// unpaidWaits is how many waits in a row must have lost a slice where PEs share CPUs.
const unpaidWaits = 4

// polls reports whether a waiter that is not to yield polls for longer before it sleeps.
func (y *yields) polls() bool {
	if !y.polling && y.node.Policy.pollsBeside > 0 {
		y.polling = y.node.waiters.pollsNow()
	}
	return y.polling
}

// end notes whether the wait was met, and tells the other waiters what a probe has found.
func (y *yields) end(met bool) {
	y.node.waiters.ended(met, y.polling)
	if y.prober && !y.lost {
		y.known.Probed(y.clean, y.looked)
	}
}
