package locks

// RMA-RW (rma-locks 3): writers climb the distributed tree (rmamcs_tree.go), and the head of level 1 takes the
// distributed counter (rmarw_counter.go), which readers enter and leave without touching the tree.
//
//	T_DC   PEs for each physical counter: many counters are fast for readers, few are fast for writers
//	T_L    holders in a row inside an element of each level of the tree: locality against fairness. The machine's
//	       is only a factor of T_W, as in Listing 8: hosts with few writers would use it up too early
//	T_R    readers that enter at a counter while a writer waits
//	T_W    writers in a row before readers are let in; by default the product of all T_L
//
// Bounds of waiting: when the tree admits a writer, it waits for at most T_R readers of each counter and those inside;
// a reader waits for at most T_W writers.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

//go:generate go tool pgasgen

// RMARWState is an RMA-RW lock in symmetric memory, free when it is zero.
//
//pgas:symmetric views
type RMARWState struct {
	Tree    RMAMCSState
	Counter Counter
}

// RMARWOptions are the same on all PEs. A value of 0 stands for a default.
type RMARWOptions struct {
	Levels []string // the same as for RMA-MCS
	TL     []int    // the same as for RMA-MCS, but T_L of the machine is a factor of T_W
	TDC    int      // PEs for each counter; 0: a counter for each host
	TR     int      // T_R; 0: 1000
	TW     int      // T_W; 0: the product of all T_L
	// A writer completes each operation on a counter before it begins the next one, as in the paper's listings. For
	// comparison.
	Sequential bool
}

// defaultTR is the smallest of the paper's values (rma-locks 5.2.3).
const defaultTR = 1000

// RMARW is a reader-writer lock in which neither readers nor writers starve.
type RMARW struct {
	mutex
	readers readers
	tree    tree
	counter *counter
}

var _ RWLock = (*RMARW)(nil)

// NewRMARW makes this PE's handle of the lock at ref. It reads the topology; it is not collective. Errors: those of
// World.Topology, and options that the topology does not allow.
func NewRMARW(ctx context.Context, w *pgas.World, ref RMARWStateRef, o RMARWOptions) (*RMARW, error) {
	l, err := newRMARW(ctx, w, ref, o)
	if err != nil {
		return nil, fmt.Errorf("RMA-RW lock: %w", err)
	}
	return l, nil
}

func newRMARW(ctx context.Context, w *pgas.World, ref RMARWStateRef, o RMARWOptions) (*RMARW, error) {
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
	tr := o.TR
	if tr == 0 {
		tr = defaultTR
	}
	if o.TDC < 0 || tr < 1 || tr > maxTR || o.TW < 0 || o.TW > numberMax {
		return nil, fmt.Errorf("T_DC = %d, T_R = %d, T_W = %d: none is negative, T_R is at most %d and T_W %d", o.TDC, o.TR, o.TW, maxTR, numberMax)
	}
	together, err := groupsOf(full, o.TDC)
	if err != nil {
		return nil, err
	}
	l := &RMARW{mutex: newMutex(w, ref.Ref(), "RMA-RW lock"), tree: newTree(w, ref.Tree(), levels, tl)}
	if l.counter, err = newCounter(w, ref.Counter(), l.tree.queues[0].home, together, tr); err != nil {
		return nil, err
	}
	l.counter.sequential = o.Sequential
	l.tree.top, l.tree.tw = l.counter, o.TW
	if o.TW == 0 {
		l.tree.tw = product(tl)
	}
	tl[0] = numberMax + 1
	return l, nil
}

// product returns the product of tl, or numberMax, the largest value that a word can carry.
func product(tl []int) int {
	p := 1
	for _, n := range tl {
		p = min(p*n, numberMax)
	}
	return p
}

// AllocRMARW allocates a lock and makes this PE's handle of it. It is collective. Errors: those of AllocRMARWState and
// NewRMARW.
func AllocRMARW(ctx context.Context, w *pgas.World, o RMARWOptions) (*RMARW, error) {
	return allocate(ctx, w, AllocRMARWState, func(ref RMARWStateRef) (*RMARW, error) { return NewRMARW(ctx, w, ref, o) })
}

// Lock blocks until this PE holds the lock alone. Errors: those of the interface Lock.
func (l *RMARW) Lock(ctx context.Context) error {
	return l.lock(ctx, &l.tree, "to write under an RMA-RW lock")
}

// TryLock takes the lock if no PE holds it in either mode, and no other PE tries at the same time.
func (l *RMARW) TryLock() bool { return l.tryLock(&l.tree) }

// Unlock passes the lock to the nearest waiting writer, as far as T_L and T_W allow, or to the readers.
func (l *RMARW) Unlock() { l.unlock(&l.tree, "RMARW.Unlock") }

// RLock blocks until this PE holds the lock in shared mode. Errors: those of the interface Lock.
func (l *RMARW) RLock(ctx context.Context) error {
	return l.readers.lock(ctx, &l.mutex, l.counter, "to read under an RMA-RW lock")
}

// TryRLock takes the lock in shared mode if no writer holds it, and none waits after T_R readers.
func (l *RMARW) TryRLock() bool {
	checkMade(l.w)
	mustHaveAll(l.w)
	if !l.counter.tryShare() {
		panicIfPeerDead(l.w)
		return false
	}
	l.readers.acquired(&l.mutex)
	l.use.Count(false, -1)
	return true
}

// RUnlock ends the hold of a reader.
func (l *RMARW) RUnlock() {
	l.readers.unlock(&l.mutex, l.counter, "RMARW.RUnlock")
}

// Holder returns the writer that held the lock a moment ago.
func (l *RMARW) Holder() (pe int, held bool) { return l.tree.holder() }

// Waiting returns the number of PEs that were seen waiting, to write or to read.
func (l *RMARW) Waiting() int { return l.tree.waiters() + l.counter.waiting() }
