package node

// How a PE waits. No wait spins for ever. A waiter polls its word for a few microseconds, then yields its CPU
// between polls, then sleeps on the PE's doorbell until the word's updater rings the doorbell. A sleeping waiter
// also wakes at intervals, to check ctx, the launcher's record of dead PEs, and updates by NICs, which ring no
// doorbell. waiters.go says how goroutines of one PE that wait at the same time share its processors.
//
// While a wait is off the fast path, the host segment holds what the PE is blocked in. So the launcher can report
// for which PE each PE waits without asking them.

import (
	"context"
	"runtime"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// Await blocks until c holds and returns the word's value. The errors are those of EndedError and of c's Party.
func (n *Node) Await(ctx context.Context, c Cond, why Blocked) (uint64, error) {
	n.Learn()
	polls := n.Policy.spins
	if n.progresser != nil && c.Word.Off != 0 {
		polls = 0 // spinning beside the transport would only slow it down
	}
	if n.waiters.saturated() {
		polls = 0 // this goroutine might keep the processor from the goroutine that it waits for
	}
	if v, ok := c.spin(polls + 1); ok {
		return v, nil
	}
	return n.awaitSlow(ctx, c, why)
}

func (n *Node) awaitSlow(ctx context.Context, c Cond, why Blocked) (uint64, error) {
	why = why.Within(ctx)
	if c.Party == nil {
		c.Party = why.shownParty()
		c.joint = c.Party != nil
	}
	if n.Sched != nil {
		return n.awaitScheduled(ctx, c, why)
	}
	n.waiters.slow.Add(1)
	defer n.waiters.slow.Add(-1)
	shown := shownWait{node: n, why: why}
	defer shown.end()
	if v, over, err := n.awaitAwake(ctx, c, &shown); over {
		return v, err
	}
	n.waiters.slept.Add(1)
	shown.begin()
	return n.SleepUntil(ctx, c, &shown)
}

// awaitAwake does what a wait does before it sleeps, and reports whether the wait is over.
func (n *Node) awaitAwake(ctx context.Context, c Cond, shown *shownWait) (v uint64, over bool, err error) {
	if c.pred != nil && n.Policy.Oversubscribed {
		queued := &n.Job.Segment.Header.InQueues
		queued.Add(1)
		defer queued.Add(-1)
	}
	if n.Rec != nil {
		shown.begin()
	}
	if n.progresser != nil && c.Word.Off != 0 {
		return n.progressUntil(ctx, c)
	}
	v, over = n.pollAndYield(ctx, c, shown)
	return v, over, nil
}

// progressUntil progresses the transport until the wait is over, or has lasted for as long as one stays awake.
func (n *Node) progressUntil(ctx context.Context, c Cond) (v uint64, over bool, err error) {
	for start := time.Now(); ; {
		if v, ok := n.progress(&c, progressBudget(ctx)); ok {
			return v, true, nil
		}
		n.Notes.drainIfWanted()
		n.waiters.yieldIfShort()
		if err := n.waitError(ctx, c, false); err != nil {
			v, err := lastCheck(c, err)
			return v, true, err
		}
		if n.contention != nil && n.contention.Sleeps(n.clock()) {
			return 0, false, nil // another program has this CPU now and then: the service thread wakes the PE
		}
		if time.Since(start) > n.Policy.progressFor {
			n.waiters.inVain.Add(1)
			return 0, false, nil
		}
	}
}

// pollAndYield polls c, yields between polls until the wait may have ended otherwise, and returns as Check does. It
// does not yield while other programs have the CPU for a time slice after a yield, but polls for longer or leaves.
func (n *Node) pollAndYield(ctx context.Context, c Cond, shown *shownWait) (v uint64, ok bool) {
	n.waiters.polling.Add(1)
	defer n.waiters.stopPolling()
	y := n.beginYields(c.pred != nil)
	defer func() { y.end(ok) }()
	door, rung := n.State.Doorbell.Load(), false
	for i := range n.Policy.yields {
		if i == publishAfter { // where PEs share CPUs this may take long
			shown.begin()
		}
		polls := n.Policy.polls + 1
		if y.sleeps() {
			if !y.polls() {
				return 0, false
			}
			polls = n.Policy.pollsBeside
		}
		if n.Policy.pollsIfNext > 0 && c.predecessorReleased() {
			polls += n.Policy.pollsIfNext
		}
		if v, ok := c.spin(polls); ok {
			return v, true
		}
		n.Notes.drainIfWanted()
		if now := n.State.Doorbell.Load(); now != door {
			door, rung = now, true
			n.waiters.unpark()
		}
		if n.waiters.shouldGosched(i, rung) {
			runtime.Gosched()
		} else if !y.polling {
			y.yield()
		}
		if n.mayHaveEnded(ctx) {
			return 0, false // before the next yield, in which other programs may compute for long
		}
	}
	n.waiters.inVain.Add(1)
	return 0, false
}

// mayHaveEnded reports, in some nanoseconds, whether EndedError is worth a call.
func (n *Node) mayHaveEnded(ctx context.Context) bool {
	return ctx.Err() != nil || n.Ctx.Err() != nil || n.Job.Segment.Header.Failed.Load() != 0
}

// progressBudget returns the bound of one call that progresses the transport, which checks no context. So the bound
// is the time that is left until ctx's deadline, if that is shorter.
func progressBudget(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return max(min(progressSlice, time.Until(end)), 0)
	}
	return progressSlice
}

// progress progresses the transport for d or until c holds, and returns as Check does. The transport cannot watch many
// words or words of 16 bits: for them progress returns when something has arrived or the doorbell was rung.
func (n *Node) progress(c *Cond, d time.Duration) (uint64, bool) {
	if c.set == nil && c.Word.Bytes != 2 {
		n.progresser.WaitWord(c.Word, c.Cmp, c.Want, c.signed, d)
		return c.Check()
	}
	if n.NICAtomics {
		d = min(d, nicPollSlice)
	}
	door := n.State.Doorbell.Load()
	n.waiters.enterSleep(n.State, c.waiting())
	if v, ok := c.Check(); ok {
		n.waiters.leaveSleep(n.State, c.waiting())
		return v, true
	}
	n.progresser.WaitDoorbell(door, d)
	n.waiters.leaveSleep(n.State, c.waiting())
	return c.Check()
}

// longWait is a wait that the end of its context wakes from its sleep. The zero longWait has not begun.
type longWait struct {
	stop func() bool // takes back what begin has asked for; nil before begin
}

// begun reports whether begin was called.
func (l *longWait) begun() bool { return l.stop != nil }

// begin has the end of ctx wake the PE that st is the page of.
func (l *longWait) begin(ctx context.Context, st *boot.State) {
	l.stop = context.AfterFunc(ctx, st.Wake)
}

// end ends what begin has begun, if anything.
func (l *longWait) end() {
	if l.stop != nil {
		l.stop()
	}
}

// SleepUntil blocks until c holds, sleeping on the doorbell between checks, and returns the word's value. Reports show
// the wait as shown has it; if that is nil, they do not. The errors are those of EndedError and of c's Party.
//
// Until it parks or has lasted some milliseconds it allocates nothing: the end of ctx does not wake it from such short
// sleeps, and reports do not show its name and place yet.
func (n *Node) SleepUntil(ctx context.Context, c Cond, shown *shownWait) (uint64, error) {
	if n.Sched != nil {
		return n.awaitScheduled(ctx, c, Blocked{Peer: -1})
	}
	var long longWait
	timed := n.stall.begin(ctx)
	defer func() {
		long.end()
		n.stall.end(n.State, timed)
	}()
	for d, slept := MinSleep, false; ; {
		door := n.State.Doorbell.Load()
		n.waiters.enterSleep(n.State, c.waiting())
		n.Notes.drainIfWanted()
		n.waiters.yieldBeforeSleep() // a ring for other waiters wakes this one
		v, ok := c.Check()           // after the store to Waiting: see boot/doorbell.go
		err := n.waitError(ctx, c, slept && d == MaxSleep)
		if !ok && err == nil && !long.begun() && (d > shortSleep || n.waiters.saturated()) {
			long.begin(ctx, n.State)
			if shown != nil {
				shown.publishSite(ctx, &c)
			}
		}
		if slept = !ok && err == nil && (!long.begun() || !n.waiters.park(n.State, door)); slept {
			n.State.Sleep(door, d)
			d = min(2*d, MaxSleep)
		}
		n.waiters.leaveSleep(n.State, c.waiting())
		if ok {
			return v, nil
		}
		if err != nil {
			return lastCheck(c, err)
		}
		if slept && d == MaxSleep {
			shown.again(ctx, &c)
			n.stall.look(n.State)
		}
	}
}
