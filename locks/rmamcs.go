package locks

// RMA-MCS (rma-locks 3.5): the distributed tree by itself. The paper leaves its listings to a technical
// report and says that they are like Listings 4 and 5 at every level; rmamcs_tree.go follows that, and has
// cancellation too.
//
// At level 1 the lock is passed on without a limit: T_L,1 has no meaning.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

//go:generate go tool pgasgen

// RMAMCSState is an RMA-MCS lock in symmetric memory, free when it is zero.
//
//pgas:symmetric views
type RMAMCSState struct {
	// Level has each PE's nodes by level, from the machine inwards. The tail of an element's queue is on
	// the lowest of its PEs.
	Level [MaxLevels]Queue
}

// RMAMCSOptions are alike on all PEs.
type RMAMCSOptions struct {
	// Levels are those of the topology that count, from the outermost inwards: {"host", "numa"}. The
	// machine always counts. nil: all that divide the PEs.
	Levels []string
	// TL is the number of holders in a row inside one element, for each level from the machine inwards; that of
	// the machine is ignored. 0, or a missing value: 50 for hosts and the levels outside them, 10 for parts of hosts.
	TL []int
}

// RMAMCS is a queue lock with locality: it stays inside an element of each level of the topology for up to T_L holders.
// Inside an innermost element the order is first come, first served; a PE waits for at most T_L holders of each
// other element.
type RMAMCS struct {
	mutex
	tree tree
}

var _ Lock = (*RMAMCS)(nil)

// NewRMAMCS makes this PE's handle of the lock at ref. It reads the topology; it is not collective. Errors: those of
// World.Topology, and options that the topology does not allow.
func NewRMAMCS(ctx context.Context, w *pgas.World, ref RMAMCSStateRef, o RMAMCSOptions) (*RMAMCS, error) {
	l, err := newRMAMCS(ctx, w, ref, o)
	if err != nil {
		return nil, fmt.Errorf("RMA-MCS lock: %w", err)
	}
	return l, nil
}

func newRMAMCS(ctx context.Context, w *pgas.World, ref RMAMCSStateRef, o RMAMCSOptions) (*RMAMCS, error) {
	full, err := w.Topology(ctx)
	if err != nil {
		return nil, err
	}
	levels, err := levelsOf(full, o.Levels)
	if err != nil {
		return nil, err
	}
	tl, err := thresholds(full, levels, o.TL)
	if err != nil {
		return nil, err
	}
	tl[0] = numberMax + 1
	return &RMAMCS{mutex: newMutex(w, ref.Ref(), "RMA-MCS lock"), tree: newTree(w, ref, levels, tl)}, nil
}

// AllocRMAMCS allocates a lock and makes this PE's handle of it. It is collective. Errors: those of AllocRMAMCSState
// and NewRMAMCS.
func AllocRMAMCS(ctx context.Context, w *pgas.World, o RMAMCSOptions) (*RMAMCS, error) {
	return allocate(ctx, w, AllocRMAMCSState, func(ref RMAMCSStateRef) (*RMAMCS, error) { return NewRMAMCS(ctx, w, ref, o) })
}

// Lock blocks until this PE holds the lock. A PE that gave up and comes back before it has been skipped keeps its
// place in the queue. Errors: those of the interface Lock.
func (l *RMAMCS) Lock(ctx context.Context) error {
	return l.lock(ctx, &l.tree, "for an RMA-MCS lock")
}

// TryLock takes the lock if it is free, and no other PE tries at the same time.
func (l *RMAMCS) TryLock() bool { return l.tryLock(&l.tree) }

// Unlock passes the lock to the nearest waiter, as far as T_L allows. It never waits for another PE to act.
func (l *RMAMCS) Unlock() { l.unlock(&l.tree, "RMAMCS.Unlock") }

// Holder returns a PE that held the lock a moment ago.
func (l *RMAMCS) Holder() (pe int, held bool) { return l.tree.holder() }

// Waiting returns the number of PEs that were seen waiting.
func (l *RMAMCS) Waiting() int { return l.tree.waiters() }
