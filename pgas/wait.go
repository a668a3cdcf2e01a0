package pgas

// How a PE waits. Nothing spins for ever: a wait looks at its word for a few microseconds, then offers
// its CPU to others between looks, then sleeps on the PE's doorbell until the word's updater rings it.
// While it sleeps it is woken every now and then all the same, to look at ctx, at the launcher's news of
// dead PEs, and at updates by NICs, which ring no bell. company.go has how goroutines of one PE that wait
// at once share its processors.
//
// What it is blocked in stands in the host segment while it is off the fast path, so that the launcher
// can tell who waits for whom without asking.

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

const (
	nap      = 500 * time.Microsecond // first sleep between looks, doubled up to longNap
	longNap  = 50 * time.Millisecond
	driveFor = 200 * time.Microsecond // one bounded stay in the transport
	nicLook  = 5 * time.Microsecond   // the same for many words that a NIC may update, which rings no bell
)

// showAfter is the number of polls after which a wait shows that it is blocked: the first few take no longer than
// showing it does.
const showAfter = 16

// pace is how patiently a PE waits before it sleeps; it depends on how many share its CPUs.
type pace struct {
	spins     int           // looks before anything else, some 2 ns each
	yields    int           // times it then offers its CPU to others
	looks     int           // looks between two such offers
	nextLooks int           // more of them if it is next in a queue
	crowded   bool          // there is not a CPU for each PE
	drive     time.Duration // how long it drives a transport that needs it
	goroutine bool          // PEs are goroutines: let the Go scheduler run another
}

func paceOf(job *boot.Job, goroutines bool) pace {
	local, cores := int(job.Segment.Header.Local), int(job.Segment.Header.Cores)
	switch spin := job.Settings.Spin; {
	case spin == boot.NeverSpin:
		return pace{drive: driveFor, goroutine: goroutines}
	case spin > 0:
		return pace{spins: int(spin / (2 * time.Nanosecond)), yields: 20, drive: spin, goroutine: goroutines}
	case goroutines:
		return pace{spins: 20, yields: 200, drive: time.Millisecond, goroutine: true}
	case local > cores:
		// A CPU takes more than a microsecond to change hands. Who is next in a queue may look for so long.
		return pace{crowded: true, spins: 1, yields: 64 * local, nextLooks: 1000, drive: 100 * time.Microsecond}
	}
	// Even with a CPU for each PE the kernel may have put two on one: do not keep the other from it.
	return pace{spins: 1500, yields: 100, looks: 100, drive: 2 * time.Millisecond}
}

// blockedIn says what a wait is for, for reports.
type blockedIn struct {
	op    boot.BlockedOp
	peer  int
	seq   uint64
	party Party // what the wait is part of, or nil
}

// A Party is what a wait is part of: a collective call. A wait asks it only after it has polled in vain.
type Party interface {
	// Check returns the reason why the wait cannot end, or nil. With remote it asks PEs of other hosts too, at
	// intervals.
	Check(remote bool) error
	// Edge returns what this PE publishes about a wait for PE peer of the job.
	Edge(peer int) WaitEdge
}

// await blocks until c holds and returns the word's value.
func (n *Node) await(ctx context.Context, c cond, why blockedIn) (uint64, error) {
	polls := n.pace.spins
	if n.waiter != nil && c.word.Off != 0 {
		polls = 0 // spinning beside the transport would only slow it down
	}
	if n.company.full() {
		polls = 0 // it might keep the processor from the very goroutine that it waits for
	}
	if v, ok := c.spin(polls + 1); ok {
		return v, nil
	}
	return n.awaitSlow(ctx, c, why)
}

func (n *Node) awaitSlow(ctx context.Context, c cond, why blockedIn) (uint64, error) {
	if n.sched != nil {
		return n.awaitScheduled(ctx, c, why)
	}
	n.company.waiting.Add(1)
	defer n.company.waiting.Add(-1)
	if n.waiter != nil && c.word.Off != 0 {
		for start := time.Now(); ; {
			if v, ok := n.drive(&c, stay(ctx)); ok {
				return v, nil
			}
			n.inbox.makeRoom()
			n.company.letRun()
			if err := n.hopeless(ctx, c, false); err != nil {
				return checked(c, err)
			}
			if time.Since(start) > n.pace.drive {
				break
			}
		}
	} else if v, ok, shown := n.lookOn(c, why); ok {
		if shown {
			n.unblock()
		}
		return v, nil
	}
	n.company.inVain.Add(1)
	n.block(why)
	defer n.unblock()
	return n.sleepUntil(ctx, c, true)
}

// lookOn polls c, yields between polls, and returns as check does. shown reports whether it has called block.
func (n *Node) lookOn(c cond, why blockedIn) (v uint64, ok, shown bool) {
	n.company.looking.Add(1)
	defer n.company.looksOff()
	door, rung := n.state.Doorbell.Load(), false
	for i := range n.pace.yields {
		if i == showAfter { // where PEs share CPUs this may take long
			n.block(why)
			shown = true
		}
		polls := n.pace.looks + 1
		if n.pace.nextLooks > 0 && c.predecessorReleased() {
			polls += n.pace.nextLooks
		}
		if v, ok := c.spin(polls); ok {
			return v, true, shown
		}
		n.inbox.makeRoom()
		if now := n.state.Doorbell.Load(); now != door {
			door, rung = now, true
			n.company.wake()
		}
		if n.company.wantRun(i, rung) {
			runtime.Gosched()
		} else {
			n.yield()
		}
	}
	return 0, false, shown
}

// stay is how long one stay in the transport may last: it looks at no context. Who rests for a microsecond is
// back after one.
func stay(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return max(min(driveFor, time.Until(end)), 0)
	}
	return driveFor
}

// drive progresses the transport for d or until c holds, and returns as check does. The transport cannot watch many
// words or words of 16 bits: for them it returns when something has arrived or the doorbell was rung.
func (n *Node) drive(c *cond, d time.Duration) (uint64, bool) {
	if c.set == nil && c.word.Bytes != 2 {
		n.waiter.WaitWord(c.word, c.cmp, c.want, c.signed, d)
		return c.check()
	}
	if n.nic {
		d = min(d, nicLook)
	}
	door := n.state.Doorbell.Load()
	n.company.enter(n.state, c.waiting())
	if v, ok := c.check(); ok {
		n.company.leave(n.state)
		return v, true
	}
	n.waiter.WaitDoorbell(door, d)
	n.company.leave(n.state)
	return c.check()
}

// yield lets another PE run. Between processes that is the kernel's business alone: a detour through
// the Go scheduler would wake idle threads of this process to compete with the other PEs.
func (n *Node) yield() {
	if n.pace.goroutine {
		runtime.Gosched()
		return
	}
	unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
}

// sleepUntil sleeps on the doorbell between checks of c. With tell, reports show what it waits for.
func (n *Node) sleepUntil(ctx context.Context, c cond, tell bool) (uint64, error) {
	if n.sched != nil {
		return n.awaitScheduled(ctx, c, blockedIn{peer: -1})
	}
	stop := context.AfterFunc(ctx, n.state.Wake)
	defer stop()
	for d, slept := nap, false; ; {
		door := n.state.Doorbell.Load()
		n.company.enter(n.state, c.waiting())
		n.inbox.makeRoom()
		n.company.letRun() // they may have no processor while this one sleeps; what rings for them wakes it
		v, ok := c.check() // after the store to Waiting: see boot/doorbell.go
		err := n.hopeless(ctx, c, slept && d == longNap)
		if slept = !ok && err == nil && !n.company.standBy(n.state, door); slept {
			n.state.Sleep(door, d)
			d = min(2*d, longNap)
			if tell {
				n.sayWhere(&c)
				tell = false
			}
		}
		n.company.leave(n.state)
		if ok {
			return v, nil
		}
		if err != nil {
			return checked(c, err)
		}
	}
}

// checked gives a condition that came true at the last moment preference over err.
func checked(c cond, err error) (uint64, error) {
	v, ok := c.check()
	if ok {
		return v, nil
	}
	return v, err
}

// hopeless reports why the wait for c is pointless. A look at other hosts for that takes its time.
func (n *Node) hopeless(ctx context.Context, c cond, everywhere bool) error {
	err := n.broken(ctx)
	if c.party == nil {
		return err
	}
	if err == nil {
		return c.party.Check(everywhere)
	}
	if n.failure() == nil {
		return err
	}
	// A PE that has found out why the call cannot complete may have ended for that very reason.
	return firstError(c.party.Check(false), err)
}

// broken returns the reason why a wait cannot succeed: the World is closed, a PE of the job is dead, or ctx has
// ended. A death goes before the end of ctx: otherwise a caller that waits repeatedly with a short time-out
// would only ever see the time-out. Last comes a jam of notes: see jam.go.
func (n *Node) broken(ctx context.Context) error {
	if err := context.Cause(n.ctx); err != nil {
		return firstError(context.Cause(ctx), err) // the transport may be closed too, so it is not asked
	}
	if err := firstError(n.failure(), context.Cause(ctx)); err != nil {
		return err
	}
	return n.inbox.jammed()
}

// failure is the *PeerError for the first PE known to have died or to be out of reach, or nil.
func (n *Node) failure() error {
	h := n.job.Segment.Header
	f := h.Failed.Load()
	if f == 0 && n.waiter != nil {
		return n.waiter.Fault()
	}
	if f == 0 {
		return nil
	}
	pe := int(f - 1)
	n.job.Lost(pe)
	return &PeerError{PE: pe, Host: n.hostName(pe), Err: boot.HowDied(h.FailedHow.Load())}
}

// block and unblock bracket what takes a while. When several goroutines of a PE are blocked, the last
// to start is what shows.
func (n *Node) block(why blockedIn) {
	if n.sched != nil && !n.lasts(why) {
		return
	}
	b := &n.state.Blocked
	b.Peer.Store(int32(why.peer))
	b.Seq.Store(why.seq)
	var e WaitEdge
	if why.party != nil {
		e = why.party.Edge(why.peer)
	}
	b.Team.Store(uint32(e.Slot))
	b.Since.Store(n.since())
	b.Op.Store(uint32(why.op))
	if why.party != nil {
		n.publishEdge(e)
	}
}

// sayWhere publishes in words what this PE is blocked in: the name of the word, and where the program waits for
// it. It takes some microseconds.
func (n *Node) sayWhere(c *cond) {
	name := ""
	if c.party == nil && c.word.Off != 0 {
		name = n.names.at(c.word.Off)
	}
	n.state.Text.Store(name + "\n" + callSite())
}

func (n *Node) unblock() {
	if n.sched != nil {
		if !n.shown {
			return
		}
		n.shown = false // elsewhere several goroutines come here at once
	}
	n.state.Blocked.Op.Store(uint32(boot.NotBlocked))
	n.state.Text.Clear()
	n.clearEdge()
}
