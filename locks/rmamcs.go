package locks

// RMA-MCS (rma-locks 3.5): the distributed tree by itself. The paper leaves its listings to a technical
// report and says that they are like Listings 4 and 5 at every level; so they are here, in
// rmamcs_tree.go, which also says what becomes of those who give up.
//
// At level 1 the lock is passed on without end: T_L,1 means nothing.

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
	// TL is how often in a row the lock is passed on inside one element of each level, the machine first,
	// which has no use for it. 0, or none: 50 for hosts and what is around them, 10 for parts of hosts.
	TL []int
}

// RMAMCS is a queue lock that stays where it is for a while: inside an element of each level of the
// topology, for up to T_L holders. PEs of one innermost element get it in the order in which they came;
// no PE waits longer than T_L allows for all other elements.
type RMAMCS struct {
	mutex
	tree tree
}

var _ Lock = (*RMAMCS)(nil)

// NewRMAMCS makes this PE's handle of the lock at ref. It reads the topology; it is not collective.
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
	return &RMAMCS{mutex: mutex{w: w}, tree: newTree(w, ref, levels, tl)}, nil
}

// AllocRMAMCS allocates a lock and makes this PE's handle of it. It is collective.
func AllocRMAMCS(ctx context.Context, w *pgas.World, o RMAMCSOptions) (*RMAMCS, error) {
	return allocate(ctx, w, AllocRMAMCSState, func(ref RMAMCSStateRef) (*RMAMCS, error) { return NewRMAMCS(ctx, w, ref, o) })
}

// Lock waits for the lock. A PE that gave up and comes back before it has been passed over finds its place
// kept.
func (l *RMAMCS) Lock(ctx context.Context) error {
	return l.lock(ctx, &l.tree, "for an RMA-MCS lock")
}

// TryLock takes the lock if it is free, and no other PE tries at the same time.
func (l *RMAMCS) TryLock() bool { return l.tryLock(&l.tree) }

// Unlock gives the lock to the nearest who waits, as far as T_L allows. It never waits for another PE to
// act.
func (l *RMAMCS) Unlock() { l.unlock(&l.tree, "RMAMCS.Unlock") }

// Holder is a PE that held the lock a moment ago.
func (l *RMAMCS) Holder() (pe int, held bool) { return l.tree.holder() }

// Waiting is the number of PEs that were seen waiting.
func (l *RMAMCS) Waiting() int { return l.tree.waiters() }
