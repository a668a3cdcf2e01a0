package locks

// D-MCS (rma-locks 2.4): one distributed queue of all PEs; its head has the lock. dmcs_queue.go has the
// queue, its words, and cancellation.

import (
	"context"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

//go:generate go tool pgasgen

// DMCSState is a D-MCS lock in symmetric memory, free when it is zero.
//
//pgas:symmetric views
type DMCSState struct {
	Queue Queue // tail on the home; the node of each PE on itself
}

// DMCSOptions are the same on all PEs.
type DMCSOptions struct {
	Home int // the PE that has the tail of the queue
}

// DMCS is a queue lock: first come, first served; each waiter waits for a word of its own memory.
type DMCS struct {
	mutex
	queue queue
}

var _ Lock = (*DMCS)(nil)

// theTurn is the only word that PEs of this queue tell each other.
const theTurn = firstWord

// NewDMCS makes this PE's handle of the lock at ref.
func NewDMCS(w *pgas.World, ref DMCSStateRef, o DMCSOptions) *DMCS {
	checkHome("NewDMCS", w, o.Home)
	return &DMCS{mutex: newMutex(w, ref.Ref(), "D-MCS lock"), queue: newQueue(w, ref.Queue(), o.Home)}
}

// AllocDMCS allocates a lock and makes this PE's handle of it. It is collective. Errors: those of AllocDMCSState.
func AllocDMCS(ctx context.Context, w *pgas.World, o DMCSOptions) (*DMCS, error) {
	return allocate(ctx, w, AllocDMCSState, func(ref DMCSStateRef) (*DMCS, error) { return NewDMCS(w, ref, o), nil })
}

// Lock blocks until this PE holds the lock: first come, first served. A PE that gave up and comes back before it has
// been skipped keeps its place in the queue. Errors: those of the interface Lock.
func (l *DMCS) Lock(ctx context.Context) error {
	return l.lock(ctx, l, "for a D-MCS lock")
}

// TryLock takes the lock if it is free and this PE has no place in the queue left from a Lock that it gave up.
func (l *DMCS) TryLock() bool { return l.tryLock(l) }

// Unlock passes the lock to the first waiter. It never waits for another PE to act.
func (l *DMCS) Unlock() { l.unlock(l, "DMCS.Unlock") }

func (l *DMCS) acquire(ctx context.Context, way *passage) error {
	_, err := l.queue.enter(ctx, way)
	return err
}

func (l *DMCS) try() bool { return l.queue.try() }

func (l *DMCS) release() { l.queue.leave(l.queue.me, theTurn) }

// Holder returns a PE that held the lock a moment ago.
func (l *DMCS) Holder() (pe int, held bool) { return l.queue.head() }

// Waiting returns the number of PEs that were seen waiting.
func (l *DMCS) Waiting() int {
	return count(peekAll(l.w, l.queue.status), func(s int64) bool { return s == waiting })
}

// head returns the PE that was the head a moment ago.
func (q *queue) head() (pe int, ok bool) {
	for {
		tail := q.tail.Fetch(q.home)
		if tail == 0 {
			return 0, false
		}
		status, next := readAll(q.w, q.status), readAll(q.w, q.next)
		for pe, s := range status {
			if s >= firstWord || s == idle && next[pe] != 0 {
				return pe, true
			}
		}
		if status[tail-1] == idle {
			return int(tail - 1), true
		}
		pauseBetweenSteps(q.w)
	}
}

// checkHome panics with *pgas.UsageError if home is no PE of the job.
func checkHome(op string, w *pgas.World, home int) {
	if home < 0 || home >= w.NPEs() {
		hook.Misuse(op, "home %d is no PE: the job has PEs 0 to %d", home, w.NPEs()-1)
	}
}
