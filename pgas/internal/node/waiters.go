package node

// Goroutines of one PE that wait at the same time, perhaps for each other.
//
// They share the PE's Go processors, and a process that is bound to one CPU has only one. A goroutine keeps
// its processor while it looks, while it offers its CPU to other processes, and, when it sleeps on the
// doorbell, until Go's monitor takes it away, which is after 20 µs to 10 ms. So where goroutines that wait
// may be without a processor, they give way to each other first:
//
//	looking      looks on and off, a bounded number of times, and lets others run between looks
//	standing by  would sleep but for those that look; blocked as any goroutine of Go is, without a processor
//	asleep       on the doorbell
//
// Where there is a processor for each there is none of this: it would wake threads to compete with other PEs.
//
// Whoever stands by or sleeps has said so in State.Waiting, so updates of its word ring. A ring wakes those
// asleep, and a goroutine that looks sees that there was one and wakes those that stand by.
//
// Invariant: nobody stands by for long unless somebody looks.

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
)

// goschedInterval is how many looks a goroutine has before it lets others run that may have woken by themselves.
const goschedInterval = 16

type waiterPool struct {
	procs int32 // Go processors when the World was opened: a later change costs time, no more

	slow    atomic.Int32 // goroutines that are off the fast path of a wait
	polling atomic.Int32 // of them
	parked  atomic.Int32 // of them
	slept   atomic.Int64 // waits so far that have looked for long enough and go to sleep: for tests

	mu       sync.Mutex
	sleepers int
	freed    sync.Cond // there is a processor for those that look, or somebody has rung
}

func (c *waiterPool) init() {
	c.procs = int32(runtime.GOMAXPROCS(0))
	c.freed.L = &c.mu
}

// saturated reports whether those that look may need all processors.
func (c *waiterPool) saturated() bool { return c.polling.Load() >= c.procs }

// yieldIfShort lets others run that wait and may be without a processor.
func (c *waiterPool) yieldIfShort() {
	if c.slow.Load() > c.procs {
		runtime.Gosched()
	}
}

// shouldGosched says whether others are to run after look i of this goroutine, rather than other PEs. Those have
// every other turn.
func (c *waiterPool) shouldGosched(i int, rung bool) bool {
	if c.slow.Load() <= c.procs {
		return false
	}
	switch n := c.polling.Load(); {
	case n > c.procs || n == c.procs && rung: // who was woken looks for a processor
		return i%2 == 0
	case n == c.procs:
		return i%goschedInterval == goschedInterval-1
	}
	return false
}

// stopPolling ends what looking.Add(1) began.
func (c *waiterPool) stopPolling() {
	if c.polling.Add(-1) < c.procs {
		c.unpark()
	}
}

// unpark wakes those that stand by.
func (c *waiterPool) unpark() {
	if c.parked.Load() > 0 {
		c.mu.Lock()
		c.freed.Broadcast()
		c.mu.Unlock()
	}
}

// park blocks while those that look may need all processors and the door is as it was. It reports false if it need not.
func (c *waiterPool) park(st *boot.State, door uint32) bool {
	if !c.saturated() {
		return false
	}
	c.mu.Lock()
	c.parked.Add(1) // before it looks for those that look: who stops looks for those that stand by after it
	for c.saturated() && st.Doorbell.Load() == door {
		c.freed.Wait()
	}
	c.parked.Add(-1)
	c.mu.Unlock()
	return true
}

// enterSleep and leave keep State.Waiting right: one sleeper publishes its words, more of them ask to be woken by
// anything.
func (c *waiterPool) enterSleep(st *boot.State, waiting uint64) {
	c.mu.Lock()
	c.sleepers++
	if c.sleepers > 1 {
		waiting = boot.AnyWord
	}
	st.Waiting.Store(waiting)
	c.mu.Unlock()
}

func (c *waiterPool) leaveSleep(st *boot.State) {
	c.mu.Lock()
	c.sleepers--
	if c.sleepers == 0 {
		st.Waiting.Store(0)
	}
	c.mu.Unlock()
}
