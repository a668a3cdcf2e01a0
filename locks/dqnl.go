package locks

// DQNL (n-cosed 2.2.2), a baseline: distributed queue, no shared mode. It is the queue of dmcs_queue.go, with its words
// and its cancellation and one difference: the tail is not swapped. A PE compare-swaps it, expecting at first 0 and
// then the value found. So one atomic takes a free lock. Where PEs compete, each PE that comes between costs one
// atomic more, without a bound; the order is that of the successful compare-swaps.
//
// Where the paper falls short: it says that the last PE sets the word to zero "if there are no pending requests", which
// may be under way. dmcs_queue.go says what this package does instead.

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

// DQNLOptions are the same on all PEs.
type DQNLOptions struct {
	Home int // the PE that has the tail of the queue
}

// DQNL is a queue lock that PEs enter by compare-swap. Readers are served one by one, as writers are.
type DQNL struct{ DMCS }

var _ Lock = (*DQNL)(nil)

// NewDQNL makes this PE's handle of the lock at ref.
func NewDQNL(w *pgas.World, ref DQNLStateRef, o DQNLOptions) *DQNL {
	checkHome("NewDQNL", w, o.Home)
	return &DQNL{DMCS{mutex: newMutex(w, ref.Ref(), "DQNL lock"), queue: newQueue(w, ref.Queue(), o.Home)}}
}

// AllocDQNL allocates a lock and makes this PE's handle of it. It is collective. Errors: those of AllocDQNLState.
func AllocDQNL(ctx context.Context, w *pgas.World, o DQNLOptions) (*DQNL, error) {
	return allocate(ctx, w, AllocDQNLState, func(ref DQNLStateRef) (*DQNL, error) { return NewDQNL(w, ref, o), nil })
}

// Lock blocks until this PE holds the lock. A PE that gave up and comes back before it has been skipped keeps its
// place in the queue. Errors: those of the interface Lock.
func (l *DQNL) Lock(ctx context.Context) error { return l.lock(ctx, l, "for a DQNL lock") }

// acquire blocks until this PE is the head of the queue.
func (l *DQNL) acquire(ctx context.Context, way *passage) error {
	q := &l.queue
	if q.mine.status.Fetch(q.me) != idle {
		kept, err := resume(ctx, q.status, q.me)
		if err != nil {
			return err
		}
		if kept {
			way.behind(-1)
			return await(ctx, &q.status, q.me, -1)
		}
	}
	before, err := l.replaceTail(ctx)
	if before == 0 || err != nil {
		return err
	}
	way.behind(int(before - 1))
	q.mine.status.Swap(q.me, waiting)
	if word, ok := q.link(int(before - 1)); ok {
		q.mine.status.Swap(q.me, word)
		return nil
	}
	return await(ctx, &q.status, q.me, int(before-1))
}

// replaceTail makes this PE the tail, and returns the old tail.
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
