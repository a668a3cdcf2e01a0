package locks

// RMA-RW (rma-locks 3): writers climb the distributed tree (rmamcs_tree.go), and the head of level 1 takes
// the distributed counter (rmarw_counter.go), at which readers come and go without knowing of the tree.
//
//	T_DC   PEs for each physical counter: many counters are quick for readers, few for writers
//	T_L    holders in a row inside an element of each level of the tree: locality against fairness. The machine's
//	       is only a factor of T_W, as in Listing 8: hosts with few writers would use it up too early
//	T_R    readers that enter at a counter while a writer waits
//	T_W    writers in a row before readers are let in; by default the product of all T_L
//
// Who has to wait how long: a writer, at most for T_R readers of each counter and those inside, whenever
// the tree would let it in; a reader, for at most T_W writers.

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

// RMARWOptions are alike on all PEs. What is 0 is chosen.
type RMARWOptions struct {
	Levels []string // as for RMA-MCS
	TL     []int    // as for RMA-MCS; T_L of the machine is a factor of T_W
	TDC    int      // PEs for each counter; 0: a counter for each host
	TR     int      // 0: 1000
	TW     int      // 0: the product of all T_L
}

// defaultTR is the smallest of the paper's values (rma-locks 5.2.3).
const defaultTR = 1000

// RMARW is a reader-writer lock in which neither readers nor writers starve.
type RMARW struct {
	w       *pgas.World
	gate    localGate
	readers readers
	tree    tree
	counter *counter
}

var _ RWLock = (*RMARW)(nil)

// NewRMARW makes this PE's handle of the lock at ref. It reads the topology; it is not collective.
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
	l := &RMARW{w: w, tree: newTree(w, ref.Tree(), levels, tl)}
	if l.counter, err = newCounter(w, ref.Counter(), l.tree.queues[0].home, together, tr); err != nil {
		return nil, err
	}
	l.tree.top, l.tree.tw = l.counter, o.TW
	if o.TW == 0 {
		l.tree.tw = product(tl)
	}
	tl[0] = numberMax + 1
	return l, nil
}

// product is at most what a word can carry.
func product(tl []int) int {
	p := 1
	for _, n := range tl {
		p = min(p*n, numberMax)
	}
	return p
}

// AllocRMARW allocates a lock and makes this PE's handle of it. It is collective.
func AllocRMARW(ctx context.Context, w *pgas.World, o RMARWOptions) (*RMARW, error) {
	s, err := AllocRMARWState(ctx, w, 1)
	if err != nil {
		return nil, err
	}
	return NewRMARW(ctx, w, s.At(0), o)
}

// Lock waits until this PE may write, alone.
func (l *RMARW) Lock(ctx context.Context) (err error) {
	checkUsable(ctx, l.w)
	if err := l.gate.enter(ctx); err != nil {
		return fmt.Errorf("waiting to write under an RMA-RW lock: %w", err)
	}
	defer recoverPeerAt(&l.gate, &err)
	if err := l.tree.acquire(ctx); err != nil {
		l.gate.leave()
		return fmt.Errorf("waiting to write under an RMA-RW lock: %w", err)
	}
	l.gate.acquired()
	return nil
}

// TryLock takes the lock if nobody has it in either way, and no other PE tries at the same time.
func (l *RMARW) TryLock() bool {
	checkMade(l.w)
	return l.gate.takeIf(l.w, l.tree.try)
}

// Unlock gives the lock to the nearest writer who waits, as far as T_L and T_W allow, or to the readers.
func (l *RMARW) Unlock() {
	l.gate.release("RMARW.Unlock")
	defer l.gate.leave()
	mustQuiet(l.w)
	l.tree.release()
}

// RLock waits until this PE may read, with others.
func (l *RMARW) RLock(ctx context.Context) (err error) {
	checkUsable(ctx, l.w)
	if err := l.readers.enter(ctx); err != nil {
		return fmt.Errorf("waiting to read under an RMA-RW lock: %w", err)
	}
	defer recoverPeerAt(&l.readers.gate, &err)
	err = l.counter.enter(ctx)
	l.readers.leave()
	if err != nil {
		return fmt.Errorf("waiting to read under an RMA-RW lock: %w", err)
	}
	l.readers.acquired()
	return nil
}

// TryRLock takes the lock for reading if no writer has it, or waits for it after T_R readers.
func (l *RMARW) TryRLock() bool {
	checkMade(l.w)
	if !l.counter.tryEnter() {
		panicIfPeerDead(l.w)
		return false
	}
	l.readers.acquired()
	return true
}

// RUnlock ends what RLock began.
func (l *RMARW) RUnlock() {
	l.readers.release("RMARW.RUnlock")
	mustQuiet(l.w)
	l.counter.leave()
}

// Holder is the writer that held the lock a moment ago.
func (l *RMARW) Holder() (pe int, held bool) { return l.tree.holder() }

// Waiting is the number of PEs that were seen waiting, to write or to read.
func (l *RMARW) Waiting() int { return l.tree.waiters() + l.counter.waiting() }
