package pgas

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

// nowAndThen is how many looks a goroutine has before it lets others run that may have woken by themselves.
const nowAndThen = 16

type company struct {
	procs int32 // Go processors when the World was opened: a later change costs time, no more

	waiting  atomic.Int32 // goroutines that are off the fast path of a wait
	looking  atomic.Int32 // of them
	standing atomic.Int32 // of them
	inVain   atomic.Int64 // waits so far that have looked for long enough and go to sleep: for tests

	mu       sync.Mutex
	sleepers int
	room     sync.Cond // there is a processor for those that look, or somebody has rung
}

func (c *company) init() {
	c.procs = int32(runtime.GOMAXPROCS(0))
	c.room.L = &c.mu
}

// full reports whether those that look may need all processors.
func (c *company) full() bool { return c.looking.Load() >= c.procs }

// letRun lets others run that wait and may be without a processor.
func (c *company) letRun() {
	if c.waiting.Load() > c.procs {
		runtime.Gosched()
	}
}

// wantRun says whether others are to run after look i of this goroutine, rather than other PEs. Those have
// every other turn.
func (c *company) wantRun(i int, rung bool) bool {
	if c.waiting.Load() <= c.procs {
		return false
	}
	switch n := c.looking.Load(); {
	case n > c.procs || n == c.procs && rung: // who was woken looks for a processor
		return i%2 == 0
	case n == c.procs:
		return i%nowAndThen == nowAndThen-1
	}
	return false
}

// looksOff ends what looking.Add(1) began.
func (c *company) looksOff() {
	if c.looking.Add(-1) < c.procs {
		c.wake()
	}
}

// wake wakes those that stand by.
func (c *company) wake() {
	if c.standing.Load() > 0 {
		c.mu.Lock()
		c.room.Broadcast()
		c.mu.Unlock()
	}
}

// standBy blocks while those that look may need all processors and the door is as it was. It reports false if it need not.
func (c *company) standBy(st *boot.State, door uint32) bool {
	if !c.full() {
		return false
	}
	c.mu.Lock()
	c.standing.Add(1) // before it looks for those that look: who stops looks for those that stand by after it
	for c.full() && st.Doorbell.Load() == door {
		c.room.Wait()
	}
	c.standing.Add(-1)
	c.mu.Unlock()
	return true
}

// enter and leave keep State.Waiting right: one sleeper publishes its words, more of them ask to be woken by
// anything.
func (c *company) enter(st *boot.State, waiting uint64) {
	c.mu.Lock()
	c.sleepers++
	if c.sleepers > 1 {
		waiting = boot.AnyWord
	}
	st.Waiting.Store(waiting)
	c.mu.Unlock()
}

func (c *company) leave(st *boot.State) {
	c.mu.Lock()
	c.sleepers--
	if c.sleepers == 0 {
		st.Waiting.Store(0)
	}
	c.mu.Unlock()
}
