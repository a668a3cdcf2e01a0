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
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
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
	op   boot.BlockedOp
	peer int
	seq  uint64
	team *Team // that the wait is about, if it is about one
}

// waitWord blocks until the own word at compares true with v.
func (w *World) waitWord(ctx context.Context, at transport.Word, cmp Cmp, v uint64, signed bool) (uint64, error) {
	return w.awaitWord(ctx, w.wordCond(at, cmp, v, signed))
}

func (w *World) awaitWord(ctx context.Context, c cond) (uint64, error) {
	if w.refuses(ctx) {
		return 0, w.refusal(ctx, "waiting for "+w.wordName(c.word.Off))
	}
	got, err := w.await(ctx, c, blockedIn{op: boot.InWait, peer: -1, seq: c.word.Off})
	if err != nil {
		return got, fmt.Errorf("waiting for %s to be %s %s (it is %s)%s: %w", w.wordName(c.word.Off), c.cmp, c.number(c.want), c.number(got), atSite(), err)
	}
	return got, nil
}

// await blocks until c holds and returns the word's value.
func (w *World) await(ctx context.Context, c cond, why blockedIn) (uint64, error) {
	n := w.pace.spins
	if w.waiter != nil && c.word.Off != 0 {
		n = 0 // spinning beside the transport would only slow it down
	}
	if w.company.full() {
		n = 0 // it might keep the processor from the very goroutine that it waits for
	}
	if v, ok := c.spin(n + 1); ok {
		return v, nil
	}
	return w.awaitSlow(ctx, c, why)
}

func (w *World) awaitSlow(ctx context.Context, c cond, why blockedIn) (uint64, error) {
	if w.sched != nil {
		return w.awaitScheduled(ctx, c, why)
	}
	w.company.waiting.Add(1)
	defer w.company.waiting.Add(-1)
	if w.waiter != nil && c.word.Off != 0 {
		for start := time.Now(); ; {
			if v, ok := w.drive(&c, stay(ctx)); ok {
				return v, nil
			}
			w.inbox.makeRoom()
			w.company.letRun()
			if err := w.hopeless(ctx, c, false); err != nil {
				return checked(c, err)
			}
			if time.Since(start) > w.pace.drive {
				break
			}
		}
	} else if v, ok, shown := w.lookOn(c, why); ok {
		if shown {
			w.unblock()
		}
		return v, nil
	}
	w.company.inVain.Add(1)
	w.block(why)
	defer w.unblock()
	return w.sleepUntil(ctx, c, true)
}

// lookOn polls c, yields between polls, and returns as check does. shown reports whether it has called block.
func (w *World) lookOn(c cond, why blockedIn) (v uint64, ok, shown bool) {
	w.company.looking.Add(1)
	defer w.company.looksOff()
	door, rung := w.state.Door.Load(), false
	for i := range w.pace.yields {
		if i == showAfter { // where PEs share CPUs this may take long
			w.block(why)
			shown = true
		}
		n := w.pace.looks + 1
		if w.pace.nextLooks > 0 && c.next() {
			n += w.pace.nextLooks
		}
		if v, ok := c.spin(n); ok {
			return v, true, shown
		}
		w.inbox.makeRoom()
		if now := w.state.Door.Load(); now != door {
			door, rung = now, true
			w.company.wake()
		}
		if w.company.wantRun(i, rung) {
			runtime.Gosched()
		} else {
			w.yield()
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
func (w *World) drive(c *cond, d time.Duration) (uint64, bool) {
	if c.set == nil && c.word.Bytes != 2 {
		w.waiter.WaitWord(c.word, c.cmp, c.want, c.signed, d)
		return c.check()
	}
	if w.def.nic {
		d = min(d, nicLook)
	}
	door := w.state.Door.Load()
	w.company.enter(w.state, c.waiting())
	if v, ok := c.check(); ok {
		w.company.leave(w.state)
		return v, true
	}
	w.waiter.WaitDoor(door, d)
	w.company.leave(w.state)
	return c.check()
}

// yield lets another PE run. Between processes that is the kernel's business alone: a detour through
// the Go scheduler would wake idle threads of this process to compete with the other PEs.
func (w *World) yield() {
	if w.pace.goroutine {
		runtime.Gosched()
		return
	}
	unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
}

// sleepUntil sleeps on the doorbell between checks of c. With tell, reports show what it waits for.
func (w *World) sleepUntil(ctx context.Context, c cond, tell bool) (uint64, error) {
	if w.sched != nil {
		return w.awaitScheduled(ctx, c, blockedIn{peer: -1})
	}
	stop := context.AfterFunc(ctx, w.state.Wake)
	defer stop()
	for d, slept := nap, false; ; {
		door := w.state.Door.Load()
		w.company.enter(w.state, c.waiting())
		w.inbox.makeRoom()
		w.company.letRun() // they may have no processor while this one sleeps; what rings for them wakes it
		v, ok := c.check() // after the store to Waiting: see boot/door.go
		err := w.hopeless(ctx, c, slept && d == longNap)
		if slept = !ok && err == nil && !w.company.standBy(w.state, door); slept {
			w.state.Sleep(door, d)
			d = min(2*d, longNap)
			if tell {
				w.sayWhere(&c)
				tell = false
			}
		}
		w.company.leave(w.state)
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
func (w *World) hopeless(ctx context.Context, c cond, everywhere bool) error {
	err := w.broken(ctx)
	if c.team == nil {
		return err
	}
	if err == nil {
		return c.team.stuck(everywhere)
	}
	if w.failure() == nil {
		return err
	}
	// A PE that has found out why the call cannot complete may have ended for that very reason.
	return firstError(c.team.stuck(false), err)
}

// broken returns the reason why a wait cannot succeed: the World is closed, a PE of the job is dead, or ctx has
// ended. A death goes before the end of ctx: otherwise a caller that waits repeatedly with a short time-out
// would only ever see the time-out. Last comes a jam of notes: see jam.go.
func (w *World) broken(ctx context.Context) error {
	if err := context.Cause(w.ctx); err != nil {
		return firstError(context.Cause(ctx), err) // the transport may be closed too, so it is not asked
	}
	if err := firstError(w.failure(), context.Cause(ctx)); err != nil {
		return err
	}
	return w.inbox.jammed()
}

// failure is the *PeerError for the first PE known to have died or to be out of reach, or nil.
func (w *World) failure() error {
	h := w.job.Segment.Header
	f := h.Failed.Load()
	if f == 0 && w.faults != nil {
		return w.faults.Fault()
	}
	if f == 0 {
		return nil
	}
	pe := int(f - 1)
	w.job.Lost(pe)
	return &PeerError{PE: pe, Host: w.HostOf(pe), Err: boot.HowDied(h.FailedHow.Load())}
}

// block and unblock bracket what takes a while. When several goroutines of a PE are blocked, the last
// to start is what shows.
func (w *World) block(why blockedIn) {
	if w.sched != nil && !w.lasts(why) {
		return
	}
	b := &w.state.Blocked
	b.Peer.Store(int32(why.peer))
	b.Seq.Store(why.seq)
	b.Team.Store(why.slot())
	b.Since.Store(w.since())
	b.Op.Store(uint32(why.op))
	w.sayWaiting(why)
}

// sayWhere publishes in words what this PE is blocked in: the name of the word, and where the program waits for
// it. It takes some microseconds.
func (w *World) sayWhere(c *cond) {
	name := ""
	if c.team == nil && c.word.Off != 0 {
		name = w.names.at(c.word.Off)
	}
	w.state.Text.Store(name + "\n" + callSite())
}

// slot is the team's slot, 0 for all PEs.
func (why blockedIn) slot() uint32 {
	if why.team == nil {
		return 0
	}
	return uint32(why.team.slot)
}

func (w *World) unblock() {
	if w.sched != nil {
		if !w.shown {
			return
		}
		w.shown = false // elsewhere several goroutines come here at once
	}
	w.state.Blocked.Op.Store(uint32(boot.NotBlocked))
	w.state.Text.Clear()
	w.stopWaiting()
}
