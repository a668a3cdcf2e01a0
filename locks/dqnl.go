package locks

// DQNL (n-cosed 2.2.2), a baseline: distributed queue, no shared mode. It is the queue of dmcs_queue.go, with
// its words and what becomes of those who give up, but for one thing: the tail is not swapped. A PE compares
// it with what it believes to be there, at first 0, and swaps if that was right. So one atomic gets a lock that
// is free; where PEs compete, each that comes between costs one more, and a PE may have to go round for
// ever: the order is that in which they succeed.
//
// Where the paper falls short: it says that the last PE sets the word to zero "if there are no pending
// requests", which may be under way. dmcs_queue.go has what is done instead.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

//go:generate go tool pgasgen

// DQNLState is a DQNL lock in symmetric memory, free when it is zero.
//
//pgas:symmetric views
type DQNLState struct {
	Queue Queue // tail on the home; the node of each PE on itself
}

// DQNLOptions are alike on all PEs.
type DQNLOptions struct {
	Home int // the PE that has the tail of the queue
}

// DQNL is a queue lock that PEs enter by compare-swap. Readers are served one by one, as writers are.
type DQNL struct{ DMCS }

var _ Lock = (*DQNL)(nil)

// NewDQNL makes this PE's handle of the lock at ref.
func NewDQNL(w *pgas.World, ref DQNLStateRef, o DQNLOptions) *DQNL {
	checkHome("NewDQNL", w, o.Home)
	return &DQNL{DMCS{mutex: mutex{w: w}, queue: newQueue(w, ref.Queue(), o.Home)}}
}

// AllocDQNL allocates a lock and makes this PE's handle of it. It is collective.
func AllocDQNL(ctx context.Context, w *pgas.World, o DQNLOptions) (*DQNL, error) {
	return allocate(ctx, w, AllocDQNLState, func(ref DQNLStateRef) (*DQNL, error) { return NewDQNL(w, ref, o), nil })
}

// Lock waits for the lock. A PE that gave up and comes back before it has been passed over finds its place
// kept.
func (l *DQNL) Lock(ctx context.Context) error { return l.lock(ctx, l, "for a DQNL lock") }

// acquire waits until this PE is the head of the queue.
func (l *DQNL) acquire(ctx context.Context) error {
	q := &l.queue
	if q.mine.status.Fetch(q.me) != idle {
		kept, err := resume(ctx, q.status, q.me)
		if err != nil {
			return err
		}
		if kept {
			return await(ctx, q.status, q.me)
		}
	}
	before, err := l.replaceTail(ctx)
	if before == 0 || err != nil {
		return err
	}
	q.mine.status.Swap(q.me, waiting)
	if word, ok := q.link(int(before - 1)); ok {
		q.mine.status.Swap(q.me, word)
		return nil
	}
	return await(ctx, q.status, q.me)
}

// replaceTail makes this PE the tail, and returns what was there.
func (l *DQNL) replaceTail(ctx context.Context) (before int64, err error) {
	q := &l.queue
	for {
		tail := q.tail.CompareSwap(q.home, before, int64(q.me)+1)
		if tail == before {
			return before, nil
		}
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		before = tail
	}
}
