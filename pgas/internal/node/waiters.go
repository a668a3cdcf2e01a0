package node

// Goroutines of one PE that wait at the same time, perhaps for each other.
//
// They share the PE's Go processors, and a process that is bound to one CPU has only one. A goroutine keeps
// its processor while it polls, while it yields its CPU to other processes, and, when it sleeps on the
// doorbell, until Go's monitor takes the processor away, which is after 20 µs to 10 ms. So where waiters may be
// without a processor, they yield to each other first. Off its fast path, a waiter is in one of three states:
//
//	polling   it polls a bounded number of times, and lets other goroutines or PEs run between polls
//	parked    it would sleep if no others polled; Go has blocked it, and it needs no processor
//	sleeping  it sleeps on the doorbell
//
// Where there is a processor for each waiter they do not park: that would wake threads, which compete with other PEs.
//
// A parked or sleeping waiter has published its words in State.Waiting, so an update of them rings the doorbell. The
// ring wakes sleeping waiters. A polling waiter sees that the doorbell was rung, and wakes the parked ones.
//
// Invariant: no waiter is parked for long unless another one polls.

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
)

// goschedInterval is the number of polls after which a goroutine lets others run that may have woken by themselves.
const goschedInterval = 16

// waiterPool is the waiters of a PE.
type waiterPool struct {
	procs int32 // Go processors when the World was opened: a later change costs time, no more

	slow    atomic.Int32 // goroutines that are off the fast path of a wait
	polling atomic.Int32 // goroutines that poll in a wait
	parked  atomic.Int32 // goroutines that are parked in a wait
	slept   atomic.Int64 // number of waits so far that have gone to sleep: for tests
	inVain  atomic.Int64 // number of waits that have polled for as long as they may

	met       atomic.Int64 // waits off the fast path that were met awake since the PE last lost a time slice
	unpaid    atomic.Int64 // waits in a row that have lost a slice, with too few waits between that have not
	vainPolls atomic.Int32 // number of waits beside other load since a polling wait last saw its word come

	mu       sync.Mutex
	sleepers int       // waiters that sleep on words of the heap
	freed    sync.Cond // signalled when polling waiters leave a processor free, or the doorbell was rung
}

func (c *waiterPool) init() {
	c.procs = int32(runtime.GOMAXPROCS(0))
	c.freed.L = &c.mu
}

// saturated reports whether the polling waiters may need all processors.
func (c *waiterPool) saturated() bool { return c.polling.Load() >= c.procs }

// pollsNow reports whether a waiter polls beside other load: if words come to waiters that poll, and now and then
// if they do not.
func (c *waiterPool) pollsNow() bool {
	const patient, again = 4, 16
	n := c.vainPolls.Load()
	if n < patient {
		return true
	}
	c.vainPolls.Store(n + 1)
	return n%again == 0
}

// ended notes whether a wait that is about to sleep or over was met. polled says that it has polled in place of yields.
func (c *waiterPool) ended(met, polled bool) {
	if met {
		c.met.Add(1)
	}
	if met && polled {
		c.vainPolls.Store(0)
	} else if polled {
		c.vainPolls.Add(1)
	}
}

// yieldIfShort lets other waiters run if they may be without a processor.
func (c *waiterPool) yieldIfShort() {
	if c.slow.Load() > c.procs {
		runtime.Gosched()
	}
}

// yieldBeforeSleep lets other goroutines run if this one might keep the last processor from them in its sleep, until
// Go's monitor takes it away.
func (c *waiterPool) yieldBeforeSleep() {
	if c.slow.Load() >= c.procs {
		runtime.Gosched()
	}
}

// shouldGosched reports whether other goroutines are to run after poll i of this one, rather than other PEs. Other PEs
// have at least every second turn. rung says that the doorbell was rung during this wait.
func (c *waiterPool) shouldGosched(i int, rung bool) bool {
	if c.slow.Load() <= c.procs {
		return false
	}
	switch n := c.polling.Load(); {
	case n > c.procs || n == c.procs && rung: // a waiter that was woken needs a processor
		return i%2 == 0
	case n == c.procs:
		return i%goschedInterval == goschedInterval-1
	}
	return false
}

// stopPolling ends the polling of a waiter, which polling.Add(1) began.
func (c *waiterPool) stopPolling() {
	if c.polling.Add(-1) < c.procs {
		c.unpark()
	}
}

// unpark wakes the parked waiters.
func (c *waiterPool) unpark() {
	if c.parked.Load() > 0 {
		c.mu.Lock()
		c.freed.Broadcast()
		c.mu.Unlock()
	}
}

// park blocks while polling waiters may need all processors and the doorbell is still door. It reports whether it has
// parked.
func (c *waiterPool) park(st *boot.State, door uint32) bool {
	if !c.saturated() {
		return false
	}
	c.mu.Lock()
	c.parked.Add(1) // before the check for polling waiters: one that stops polling checks for parked ones after that
	for c.saturated() && st.Doorbell.Load() == door {
		c.freed.Wait()
	}
	c.parked.Add(-1)
	c.mu.Unlock()
	return true
}

// enterSleep publishes in State.Waiting which words a waiter watches, or in State.WaitingForGroup that it waits for
// members of a team, if waiting is 0. If several waiters watch words, it publishes that any update wakes them.
func (c *waiterPool) enterSleep(st *boot.State, waiting uint64) {
	if waiting == 0 {
		st.AddWaitingForGroup(1)
		return
	}
	c.mu.Lock()
	c.sleepers++
	if c.sleepers > 1 {
		waiting = boot.AnyWord
	}
	st.SetWaiting(waiting)
	c.mu.Unlock()
}

// leaveSleep withdraws what enterSleep has published: of words once the last sleeper has woken.
func (c *waiterPool) leaveSleep(st *boot.State, waiting uint64) {
	if waiting == 0 {
		st.AddWaitingForGroup(-1)
		return
	}
	c.mu.Lock()
	c.sleepers--
	if c.sleepers == 0 {
		st.SetWaiting(0)
	}
	c.mu.Unlock()
}
