package locks

// The distributed lock table (alock 6): a number of locks, spread evenly over the hosts and over the PEs of
// each, all of one kind. For a PE, the locks of its own host are near and the others far. A
// table is made of ALocks, or of the locks that the paper compares them with: in a job whose atomics the NIC executes
// (PGAS_AMO=nic), these use the network for near locks too. The paper's queue lock changes its tail by compare-swap,
// since InfiniBand has no swap; a table can have queue locks of both kinds.

import (
	"context"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// TableKind is the kind of the locks of a table.
type TableKind int

const (
	TableALock TableKind = iota
	TableMCS             // queue locks (D-MCS)
	TableSpin            // one word each, tried repeatedly without a pause
	TableDQNL            // queue locks that are entered by compare-swap, as the paper's MCS
)

// TableOptions are the same on all PEs.
type TableOptions struct {
	Kind                      TableKind
	RemoteBudget, LocalBudget int // the budgets of ALocks; 0: the default of ALockOptions
}

// Table is a PE's handle of a number of locks.
type Table struct {
	w         *pgas.World
	locks     []Lock
	homes     []int
	near, far []int // indexes of locks
	free      func(context.Context) error
}

// AllocTable allocates n locks and makes this PE's handles of them. It is collective. Errors: those of World.NewContext
// and of the allocation (AllocALockState).
func AllocTable(ctx context.Context, w *pgas.World, n int, o TableOptions) (*Table, error) {
	if n < 1 {
		hook.Misuse("AllocTable", "a table of %s: it has at least one", plural.Count(n, "lock"))
	}
	newLock, free, err := makerOf(ctx, w, n, o)
	if err != nil {
		return nil, err
	}
	t := &Table{w: w, free: free}
	hosts := byHost(w)
	for i := range n {
		pes := hosts[i%len(hosts)]
		home := pes[i/len(hosts)%len(pes)]
		l, err := newLock(i, home)
		if err != nil {
			return nil, err
		}
		t.locks, t.homes = append(t.locks, l), append(t.homes, home)
		if w.HostOf(home) == w.Host() {
			t.near = append(t.near, i)
		} else {
			t.far = append(t.far, i)
		}
	}
	return t, nil
}

// byHost returns the PEs of each host.
func byHost(w *pgas.World) (hosts [][]int) {
	index := map[string]int{}
	for pe := range w.NPEs() {
		name := w.HostOf(pe)
		i, known := index[name]
		if !known {
			i = len(hosts)
			index[name] = i
			hosts = append(hosts, nil)
		}
		hosts[i] = append(hosts[i], pe)
	}
	return hosts
}

// makerOf allocates the locks of a table. It returns newLock, which makes the handle of lock i, and free.
func makerOf(ctx context.Context, w *pgas.World, n int, o TableOptions) (newLock func(i, home int) (Lock, error), free func(context.Context) error, err error) {
	cpu, err := w.NewContext(pgas.ByCPU())
	if err != nil {
		return nil, nil, err
	}
	var freeState func(context.Context) error
	switch o.Kind {
	case TableALock:
		s, failed := AllocALockState(ctx, w, n)
		err, freeState = failed, s.Sym().Free
		newLock = func(i, home int) (Lock, error) {
			return NewALock(w, s.At(i), ALockOptions{Home: home, RemoteBudget: o.RemoteBudget, LocalBudget: o.LocalBudget, CPU: cpu})
		}
	case TableMCS:
		s, failed := AllocDMCSState(ctx, w, n)
		err, freeState = failed, s.Sym().Free
		newLock = func(i, home int) (Lock, error) {
			l := NewDMCS(w, s.At(i), DMCSOptions{Home: home})
			l.queue.lookBy(s.At(i).Queue().On(cpu))
			return l, nil
		}
	case TableDQNL:
		s, failed := AllocDQNLState(ctx, w, n)
		err, freeState = failed, s.Sym().Free
		newLock = func(i, home int) (Lock, error) {
			l := NewDQNL(w, s.At(i), DQNLOptions{Home: home})
			l.queue.lookBy(s.At(i).Queue().On(cpu))
			return l, nil
		}
	case TableSpin:
		s, failed := AllocSpinState(ctx, w, n)
		err, freeState = failed, s.Sym().Free
		newLock = func(i, home int) (Lock, error) {
			return newEagerSpin(w, s.At(i), SpinOptions{Home: home}, cpu), nil
		}
	default:
		hook.Misuse("AllocTable", "kind %d: there are TableALock, TableMCS, TableSpin and TableDQNL", o.Kind)
	}
	return newLock, func(ctx context.Context) error {
		if err := freeState(ctx); err != nil {
			return err
		}
		return cpu.Close()
	}, err
}

// lookBy makes this PE access its own node without the network, as in the paper.
func (q *queue) lookBy(own QueueRef) { q.mine = node{own.Next(), own.Status()} }

// Free ends the table. It is collective, and no PE may hold a lock of it or wait for one. Errors: those of Free of an
// allocation and of Context.Close.
func (t *Table) Free(ctx context.Context) error { return t.free(ctx) }

// Len returns the number of locks.
func (t *Table) Len() int { return len(t.locks) }

// Lock returns this PE's handle of lock i.
func (t *Table) Lock(i int) Lock { return t.locks[i] }

// Home returns the PE that has lock i.
func (t *Table) Home(i int) int { return t.homes[i] }

// Near returns the indexes of the locks of this PE's host.
func (t *Table) Near() []int { return t.near }

// Far returns the indexes of the locks of other hosts.
func (t *Table) Far() []int { return t.far }

// Pick returns the index of a random lock: a near one with the probability locality, if the table has both near and far
// locks.
func (t *Table) Pick(locality float64) int {
	from := t.near
	if len(t.near) == 0 || len(t.far) > 0 && chance(t.w) >= locality {
		from = t.far
	}
	return from[t.w.Random()%uint64(len(from))]
}

// chance returns a random number from 0 to 1.
func chance(w *pgas.World) float64 { return float64(w.Random()>>11) / (1 << 53) }

// eagerSpin is the spin lock of the paper's comparison: Spin without its pauses.
type eagerSpin struct {
	*Spin
	own pgas.Atomic[int64] // the word that counts waits of this PE, used by the CPU
}

func newEagerSpin(w *pgas.World, ref SpinStateRef, o SpinOptions, cpu *pgas.Context) *eagerSpin {
	return &eagerSpin{NewSpin(w, ref, o), ref.Waits().On(cpu)}
}

// Lock tries until this PE holds the lock. Errors: those of the interface Lock.
func (l *eagerSpin) Lock(ctx context.Context) error { return l.lock(ctx, l, "for a spin lock") }

func (l *eagerSpin) acquire(ctx context.Context, way *passage) error {
	if l.try() {
		return nil
	}
	way.behind(-1)
	l.own.Swap(l.me, 1)
	defer l.own.Swap(l.me, 0)
	for poll := (poller{remote: l.w.HostOf(l.home) != l.w.Host(), eager: true}); ; {
		if err := poll.next(ctx, l.w, l.own, 1); err != nil || l.try() {
			return err
		}
	}
}
