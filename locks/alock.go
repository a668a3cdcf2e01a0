package locks

// ALock (alock 5): the PEs of the lock's host are one cohort, all other PEs the second one. Each cohort has a queue
// (dmcs_queue.go), and the heads of the two run Peterson's algorithm for the lock. So PEs of the host update words
// by their CPUs only, also in a job whose atomics the NIC executes, and other PEs by the network only. The only
// word that both update is victim, by plain overwriting.
//
//	remotes  of the home's copy  1 + the last PE of the remote cohort's queue; 0: that cohort does not want
//	                             the lock. Written by: PEs of other hosts
//	locals   of the home's copy  the same of the local cohort. Written by: PEs of the home's host
//	victim   of the home's copy  the cohort that lets the other one go first. Written by: competing heads
//	next, status                 the node of a PE, in the queue of its cohort
//
// A tail is also the flag of Peterson's algorithm: a cohort wants the lock, or has it, as long as its queue is not
// empty. A head that holds the lock may pass it to its successor, with the rest of the cohort's budget. A head
// tells its successor one of these words:
//
//	compete   the budget is used up: let the other cohort go first, if it wants to
//	contend   the same, and victim has been written already
//	passed+n the lock is yours, and you are the first of n that the cohort may still let in
//
// Invariant: at most one PE is head of its cohort and has won against the other one, or was told passed.
// Invariant: from the moment that the head of a cohort has written victim, the other cohort takes the lock
// as often as its budget says at most.
//
// Cancellation. A PE that gives up in the queue is skipped by the head (dmcs_queue.go). A head that gives up while it
// competes tells its successor to contend: the successor goes on with the same competition, so that the other
// cohort does not go first a second time.
//
// Where the listings fall short, and what this file does instead:
//   - Algorithm 4 waits while the other cohort's queue is locked or victim is the own cohort. So the first
//     PE, alone, would wait for ever, since victim is its own cohort. It must be "and", as in the appendix.
//   - The appendix writes the number of a process to victim and compares with it. A head that goes on for a head
//     that gave up would find the number of another process. This file writes the cohort.
//   - Algorithm 3 tries one compare-swap on the tail, and the text says to try again with the value found, which may
//     be needed any number of times. This file swaps the tail, as the appendix does.
//   - Algorithm 3 compare-swaps the tail at each unlock; this file only if no successor is known. Algorithm 3 waits
//     for the successor that is about to link itself; this file leaves the word for it.
//   - Algorithm 4 writes victim before it reads the other tail. A head that finds the other queue empty has won
//     without victim: the head of the other cohort comes later, finds this queue not empty, and writes victim
//     itself. That saves one of four round trips. A PE of another host saves one more: it swaps the tail of its
//     queue and reads the other tail in one message, in this order.
//   - The paper does not say how a head waits for the other cohort. No PE can wake it, since the local cohort
//     does not use the network. So it polls, with pauses (poll.go).

import (
	"context"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// ALockState is an ALock in symmetric memory, free when it is zero.
//
//pgas:symmetric views
type ALockState struct {
	Remotes int64    `pgas:"atomic"` // the tail of the remote cohort, in the home's copy; written by: the remote cohort
	Locals  int64    `pgas:"atomic"` // the tail of the local cohort, in the home's copy; written by: the local cohort
	Victim  int64    `pgas:"atomic"` // in the home's copy; written by: the heads of both cohorts
	_       [40]byte // separates the node, which belongs to its PE
	Next    int64    `pgas:"atomic"` // written by: the successor, the head; read by: the head
	Status  int64    `pgas:"atomic"` // written by: owner, the head; read by: owner
	_       [48]byte
}

// ALockOptions are the same on all PEs, except CPU.
type ALockOptions struct {
	Home         int // the PE that has the lock's words
	RemoteBudget int // acquisitions in a row by PEs of other hosts while PEs of the home's host wait; 0: 20
	LocalBudget  int // the same with the cohorts exchanged; 0: 5
	// CPU is a context of this PE opened with pgas.ByCPU(), which any number of locks may share. nil: NewALock
	// opens a context, which is closed with the World.
	CPU *pgas.Context
}

// The paper's budgets (alock 6.1).
const (
	remoteBudget = 20
	localBudget  = 5
)

// The cohorts, as written to victim.
const (
	remoteCohort int64 = 1 + iota
	localCohort
)

// Words that a head tells its successor.
const (
	compete = firstWord + iota
	contend
	passed
)

// ALock is a lock for words of one host that PEs of the same host take most often. Inside a cohort the order is first
// come, first served.
type ALock struct {
	mutex
	state  ALockStateRef
	home   int
	cohort int64
	budget int64
	left   int64 // what is left of the budget; the holder uses it
	queue  queue
	other  pgas.Atomic[int64] // the tail of the other cohort
	victim pgas.Atomic[int64]
	came   arrival
}

// arrival is what a PE found when it entered its cohort's queue.
type arrival struct {
	before int64 // the tail of its cohort until then
	other  int64 // the tail of the other cohort after that, if before is 0
}

var _ Lock = (*ALock)(nil)

// NewALock makes this PE's handle of the lock at ref. Errors: those of World.NewContext, if CPU is nil.
func NewALock(w *pgas.World, ref ALockStateRef, o ALockOptions) (*ALock, error) {
	checkHome("NewALock", w, o.Home)
	checkBudgets(o)
	l := &ALock{mutex: newMutex(w, ref.Ref(), "ALock"), state: ref.On(w.Context()), home: o.Home}
	if o.CPU == nil {
		c, err := w.NewContext(pgas.ByCPU())
		if err != nil {
			return nil, err
		}
		o.CPU = c
	}
	mine := node{ref.Next().On(o.CPU), ref.Status().On(o.CPU)}
	l.queue = queue{w: w, me: w.PE(), home: o.Home, mine: mine}
	q := &l.queue
	if w.HostOf(o.Home) == w.Host() {
		l.cohort, l.budget = localCohort, defaulted(o.LocalBudget, localBudget)
		q.tail, q.next, q.status = ref.Locals().On(o.CPU), mine.next, mine.status
		l.other, l.victim = ref.Remotes().On(o.CPU), ref.Victim().On(o.CPU)
		return l, nil
	}
	l.cohort, l.budget = remoteCohort, defaulted(o.RemoteBudget, remoteBudget)
	q.tail, q.next, q.status = l.state.Remotes(), l.state.Next(), l.state.Status()
	l.other, l.victim = l.state.Locals(), l.state.Victim()
	return l, nil
}

// AllocALock allocates a lock and makes this PE's handle of it. It is collective. Errors: those of AllocALockState and
// NewALock.
func AllocALock(ctx context.Context, w *pgas.World, o ALockOptions) (*ALock, error) {
	return allocate(ctx, w, AllocALockState, func(ref ALockStateRef) (*ALock, error) { return NewALock(w, ref, o) })
}

func checkBudgets(o ALockOptions) {
	if o.RemoteBudget < 0 || o.LocalBudget < 0 {
		hook.Misuse("NewALock", "budgets of %d and %d: they are 1 or more, or 0 for the paper's", o.RemoteBudget, o.LocalBudget)
	}
}

func defaulted(n, or int) int64 {
	if n == 0 {
		n = or
	}
	return int64(n)
}

// Lock blocks until this PE holds the lock. Inside a cohort the order is first come, first served. While both cohorts
// want the lock, each gets it as often in a row as its budget says. Errors: those of the interface Lock.
func (l *ALock) Lock(ctx context.Context) error { return l.lock(ctx, l, "for an ALock") }

// acquire waits to be the head of the cohort, and then for the other cohort.
func (l *ALock) acquire(ctx context.Context, way *passage) error {
	word, queued, err := l.queue.prepare(ctx, way)
	if err != nil {
		return err
	}
	if !queued {
		if err := l.arrive(); err != nil {
			return err
		}
		if l.came.before == 0 {
			return l.win(ctx, 0, l.came.other, way)
		}
		if word, err = l.queue.follow(ctx, int(l.came.before-1), way); err != nil {
			return err
		}
	}
	if word >= passed {
		l.left = word - passed
		return nil
	}
	return l.win(ctx, word, l.other.Fetch(l.home), way)
}

// arrive enters the queue of the cohort, and then reads the tail of the other one. Both operations of a PE of another
// host travel together. Errors: *pgas.PeerError if the home is lost.
func (l *ALock) arrive() error {
	me := int64(l.w.PE()) + 1
	if l.cohort == localCohort {
		l.came.before = l.queue.tail.Swap(l.home, me)
		if l.came.before == 0 {
			l.came.other = l.other.Fetch(l.home)
		}
		return nil
	}
	l.queue.tail.SwapNB(l.home, me, &l.came.before)
	l.w.Fence() // of two heads that come at the same time, one at least sees that the other wants the lock
	l.other.FetchNB(l.home, &l.came.other)
	return l.w.Quiet(context.Background())
}

// win makes this PE, which became the head and was told word, or 0 if it came to an empty queue, the holder. other is
// the tail of the other cohort, read since this PE was in its queue. On an error it is not the head any more.
func (l *ALock) win(ctx context.Context, word, other int64, way *passage) error {
	l.left = l.budget
	if other != 0 {
		way.behind(int(other - 1)) // the PE that came last to the other cohort stands for its holder
		l.say(contend)
		if word != contend {
			l.victim.Swap(l.home, l.cohort)
		}
		if err := l.await(ctx); err != nil {
			l.queue.leave(l.w.PE(), contend)
			return err
		}
	} else if word == 0 {
		return nil
	}
	l.say(passed + l.left)
	return nil
}

// await polls until the other cohort does not want the lock, or lets this one go first. Errors: those of poller.next.
func (l *ALock) await(ctx context.Context) error {
	poll := poller{remote: l.cohort == remoteCohort}
	for l.other.Fetch(l.home) != 0 && l.victim.Fetch(l.home) == l.cohort {
		if err := poll.next(ctx, l.w, l.queue.mine.status, contend); err != nil {
			return err
		}
	}
	return nil
}

// say publishes for Holder and Waiting what the head does. Only the head itself writes the status of a head.
func (l *ALock) say(word int64) { l.queue.mine.status.Swap(l.w.PE(), word) }

// TryLock takes the lock if no PE of either cohort holds it or waits for it.
func (l *ALock) TryLock() bool { return l.tryLock(l) }

func (l *ALock) try() bool {
	if !l.queue.try() {
		return false
	}
	if l.other.Fetch(l.home) != 0 {
		l.queue.leave(l.w.PE(), compete)
		return false
	}
	l.left = l.budget
	return true
}

// Unlock passes the lock to the first waiter of this PE's cohort, or to the other cohort if this one's budget is used
// up. It never waits for another PE to act.
func (l *ALock) Unlock() { l.unlock(l, "ALock.Unlock") }

func (l *ALock) release() {
	word := compete
	if l.left > 1 {
		word = passed + l.left - 1
	}
	l.queue.leave(l.w.PE(), word)
}

// snapshots is the number of times that Holder reads a lock that changes hands.
const snapshots = 1000

// Holder returns a PE that held the lock a moment ago.
func (l *ALock) Holder() (pe int, held bool) {
	for range snapshots {
		tails := [...]int64{l.state.Remotes().Fetch(l.home), l.state.Locals().Fetch(l.home)}
		if tails[0] == 0 && tails[1] == 0 {
			return 0, false
		}
		heads := l.heads(tails)
		if len(heads) == 1 {
			return heads[0], true
		}
		pauseBetweenSteps(l.w)
	}
	return 0, false
}

// heads returns the PEs that seem to be the head of their cohort and not to compete.
func (l *ALock) heads(tails [2]int64) (heads []int) {
	status, next := readAll(l.w, l.state.Status()), readAll(l.w, l.state.Next())
	for pe, s := range status {
		last := tails[0] == int64(pe)+1 || tails[1] == int64(pe)+1
		if s >= passed || s == idle && (last || next[pe] != 0) {
			heads = append(heads, pe)
		}
	}
	return heads
}

// Waiting returns the number of PEs that were seen waiting, in their cohort or for the other one.
func (l *ALock) Waiting() int {
	return count(peekAll(l.w, l.state.Status()), func(s int64) bool { return s == waiting || s == compete || s == contend })
}
