package boot

// What the waiters of a host have learned of other programs on their CPUs. A waiter that gives its CPU to such a
// program gets it back a time slice later, and a waiter that keeps it loses it in the middle of a wait. A sleeper is
// woken within microseconds. So from the first slice that a waiter loses, waiters sleep in place of yielding. When the
// time for that is over, one waiter yields again, the prober. If it loses a slice, the next time is longer, up to a
// bound that keeps what probes lose small. If it yields often enough and loses nothing, all waiters yield again.
//
// A slice that is lost now and then costs less than sleep does in each wait before it. So a lost slice counts
// only if few waits have been met since the one before.
//
// The service thread of ucx/engine has the same rules (contention.c) and the same words.

import (
	"sync/atomic"
	"time"
)

// LostSlice is how long a waiter is without its CPU between two looks if another program has had it.
const LostSlice = time.Millisecond

const (
	firstSpan   = 8                     // for so many times what it has lost a waiter sleeps at first
	longerSpan  = 4                     // and then so many times as long as before
	longestSpan = 64                    // but no longer than so many times what it has lost
	recently    = 8                     // so many spans after the last loss the next loss is one more of the same load
	probeTime   = 20 * time.Millisecond // for so long the other waiters leave the probe to the prober
	cleanYields = 32                    // after so many yields that have lost nothing the load is over
	sleepCosts  = 64 * time.Microsecond // so much longer a wait takes beside other load if it sleeps
)

// ContentionRules returns the numbers of the rules, which C has too.
func ContentionRules() [8]int64 {
	return [...]int64{
		int64(LostSlice), firstSpan, longerSpan, longestSpan, recently, int64(probeTime), cleanYields, int64(sleepCosts),
	}
}

// Contention is what waiters know. All of them may use it at once: the PEs of a host, or the threads of one PE.
type Contention struct {
	until atomic.Int64 // Clock until which waiters sleep; 0: they need not
	span  atomic.Int64 // the length of that time, the last one if it is over
	ended atomic.Int64 // Clock when the load was over
	clean atomic.Int64 // yields of probers since the last loss
	lost  atomic.Int64 // slices that counted, ever
}

// Advice is what a waiter is to do.
type Advice uint8

// What a waiter is to do: yield its CPU between looks, sleep, or yield and report what that has cost.
const (
	YieldCPU Advice = iota
	SleepNow
	Probe
)

// Advise returns what a waiter is to do now. It returns Probe to one waiter, which must call Probed or Lost.
func (c *Contention) Advise(now int64) Advice {
	until := c.until.Load()
	switch {
	case until == 0:
		return YieldCPU
	case now < until || !c.until.CompareAndSwap(until, now+int64(probeTime)):
		return SleepNow
	}
	return Probe
}

// Sleeps reports whether waiters are to sleep now.
func (c *Contention) Sleeps(now int64) bool { return now < c.until.Load() }

// Probed says that a prober has yielded so many times and has lost nothing. The next waiter may probe at once.
func (c *Contention) Probed(yields int, now int64) {
	if c.clean.Add(int64(yields)) >= cleanYields {
		c.ended.Store(now)
		c.until.Store(0)
		return
	}
	c.until.Store(now)
}

// Paid reports whether a slice that took lost nanoseconds does not count: sleep in the waits that were met since the
// slice before would have taken longer.
func Paid(lost, met int64) bool { return met*int64(sleepCosts) >= lost }

// Lost says that a waiter, a prober or not, was without its CPU from began to now. What others have found out since it
// began counts once.
func (c *Contention) Lost(began, now int64, prober bool) {
	until, span := c.until.Load(), c.span.Load()
	if until != 0 && !prober {
		return
	}
	lost := now - began
	if prober || began-c.ended.Load() < recently*span {
		span = max(min(longerSpan*span, longestSpan*lost), firstSpan*lost)
	} else {
		span = firstSpan * lost
	}
	if c.until.CompareAndSwap(until, now+span) {
		c.span.Store(span)
		c.clean.Store(0)
		c.lost.Add(1)
	}
}

// Losses returns how many slices waiters have lost that counted.
func (c *Contention) Losses() int64 { return c.lost.Load() }

// Contention returns what the PE shares with all that may wait for the same CPUs: with its own threads if it is bound
// to CPUs of its own, else with all PEs of its host.
func (j *Job) Contention() *Contention {
	head := j.Segment.Header
	if len(AllowedCPUs()) < int(head.Cores) {
		return &j.State().Contention
	}
	return &head.Contention
}
