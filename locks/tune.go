package locks

// Choosing parameters by measurement, in the order that the paper advises (rma-locks 6): first T_DC, which
// matters most, then T_L and with it T_W, which is their product, then T_R; and then the budgets of ALock,
// the remote one first. Each is varied alone, with the others at their best values so far, so the
// result is good but need not be the best.

import (
	"context"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/topo"
)

// TuneOptions describe the use of the locks. They are the same on all PEs.
type TuneOptions struct {
	Writers float64  // the part of all acquisitions that write, up to 1; 0: 0.02
	Inside  func()   // it is called under the lock; nil calls nothing
	Rounds  int      // acquisitions of each PE in each trial; 0: 500
	Levels  []string // the same as for RMA-MCS
}

// Tuning is the proposal of Tune, and its measurements.
type Tuning struct {
	RMARW  RMARWOptions // T_L is for RMA-MCS, too
	ALock  ALockOptions // the budgets are the best found
	Trials []Trial      // all trials, in their order
}

// Trial is one setting and its rate.
type Trial struct {
	What string  // the values, such as "T_DC=8 T_L=[100 50] T_R=1000"
	Rate float64 // acquisitions per second, of all PEs together
}

// Tune measures parameters of RMA-RW and of ALock with all PEs at once and proposes the fastest. It is collective, and
// returns the same on every PE. It takes some 25 trials of three runs each. Errors: those of the locks, of their
// allocation and of World.Topology.
func Tune(ctx context.Context, w *pgas.World, o TuneOptions) (Tuning, error) {
	if o.Writers == 0 {
		o.Writers = 0.02
	}
	if o.Rounds == 0 {
		o.Rounds = 500
	}
	words, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return Tuning{}, fmt.Errorf("tuning: %w", err)
	}
	u := &tuner{w: w, o: o, took: words}
	if err = u.rmarw(ctx); err == nil {
		err = u.alock(ctx)
	}
	if err == nil {
		err = words.Free(ctx)
	}
	if err != nil {
		return Tuning{}, fmt.Errorf("tuning: %w", err)
	}
	return u.result, nil
}

// repeats is the number of runs of each trial. The best run counts, since a disturbance affects only some of them.
const repeats = 3

type tuner struct {
	w      *pgas.World
	o      TuneOptions
	took   pgas.Sym[int64]
	result Tuning
}

// rmarw finds the thresholds.
func (u *tuner) rmarw(ctx context.Context) error {
	tree, err := u.w.Topology(ctx)
	if err != nil {
		return err
	}
	levels, err := levelsOf(tree, u.o.Levels)
	if err != nil {
		return err
	}
	best := RMARWOptions{Levels: u.o.Levels, TDC: perHost(tree), TR: defaultTR}
	if best.TL, err = thresholds(tree, levels, nil); err != nil {
		return err
	}
	var tdc, tl, tr []RMARWOptions
	for _, n := range []int{1, best.TDC / 4, best.TDC / 2, best.TDC, 2 * best.TDC, 4 * best.TDC} {
		o := best
		o.TDC = n
		if n > 0 && n <= u.w.NPEs() && !slices.ContainsFunc(tdc, func(p RMARWOptions) bool { return p.TDC == n }) {
			tdc = append(tdc, o)
		}
	}
	if best, err = bestOf(ctx, u, tdc, u.tryRMARW); err != nil {
		return err
	}
	for _, n := range []int{5, 10, 25, 50, 100} {
		o := best
		o.TL = slices.Repeat([]int{n}, len(levels))
		tl = append(tl, o)
	}
	if best, err = bestOf(ctx, u, append(tl, best), u.tryRMARW); err != nil {
		return err
	}
	for _, n := range []int{100, 500, 1000, 3000, 6000} {
		o := best
		o.TR = n
		tr = append(tr, o)
	}
	if best, err = bestOf(ctx, u, tr, u.tryRMARW); err != nil {
		return err
	}
	best.TW = product(best.TL)
	u.result.RMARW = best
	return nil
}

// perHost returns the largest number of PEs on a host.
func perHost(tree *topo.Tree) int {
	hosts, err := tree.Level(topo.Host)
	if err != nil {
		return tree.NPEs()
	}
	most := 1
	for i := range hosts.Elements() {
		most = max(most, len(hosts.Members(i)))
	}
	return most
}

func (u *tuner) tryRMARW(ctx context.Context, o RMARWOptions) (Trial, error) {
	state, err := AllocRMARWState(ctx, u.w, 1)
	if err != nil {
		return Trial{}, err
	}
	l, err := NewRMARW(ctx, u.w, state.At(0), o)
	if err != nil {
		return Trial{}, err
	}
	rate, err := u.rate(ctx, func() error {
		lock, unlock := l.RLock, l.RUnlock
		if float64(u.w.Random()>>11)/(1<<53) < u.o.Writers {
			lock, unlock = l.Lock, l.Unlock
		}
		return u.once(ctx, lock, unlock)
	})
	if err != nil {
		return Trial{}, err
	}
	return Trial{fmt.Sprintf("T_DC=%d T_L=%v T_R=%d", o.TDC, o.TL, o.TR), rate}, state.Sym().Free(ctx)
}

// alock finds the budgets.
func (u *tuner) alock(ctx context.Context) error {
	best := ALockOptions{RemoteBudget: remoteBudget, LocalBudget: localBudget}
	var remote, local []ALockOptions
	var err error
	for _, n := range []int{5, 10, 20, 40} {
		o := best
		o.RemoteBudget = n
		remote = append(remote, o)
	}
	if best, err = bestOf(ctx, u, remote, u.tryALock); err != nil {
		return err
	}
	for _, n := range []int{2, 5, 10, 20} {
		o := best
		o.LocalBudget = n
		local = append(local, o)
	}
	if best, err = bestOf(ctx, u, local, u.tryALock); err != nil {
		return err
	}
	u.result.ALock = best
	return nil
}

func (u *tuner) tryALock(ctx context.Context, o ALockOptions) (Trial, error) {
	cpu, err := u.w.NewContext(pgas.ByCPU())
	if err != nil {
		return Trial{}, err
	}
	state, err := AllocALockState(ctx, u.w, 1)
	if err != nil {
		return Trial{}, err
	}
	with := o
	with.CPU = cpu
	l, err := NewALock(u.w, state.At(0), with)
	if err != nil {
		return Trial{}, err
	}
	rate, err := u.rate(ctx, func() error { return u.once(ctx, l.Lock, l.Unlock) })
	if err != nil {
		return Trial{}, err
	}
	if err := state.Sym().Free(ctx); err != nil {
		return Trial{}, err
	}
	return Trial{fmt.Sprintf("ALock budgets: remote %d, local %d", o.RemoteBudget, o.LocalBudget), rate}, cpu.Close()
}

func (u *tuner) once(ctx context.Context, lock func(context.Context) error, unlock func()) error {
	if err := lock(ctx); err != nil {
		return err
	}
	if u.o.Inside != nil {
		u.o.Inside()
	}
	unlock()
	return nil
}

// rate returns the number of calls of once per second, of all PEs together, in the best of some runs.
func (u *tuner) rate(ctx context.Context, once func() error) (best float64, err error) {
	all := u.took.All()
	for range repeats {
		if err := u.w.Barrier(ctx); err != nil {
			return 0, err
		}
		start := u.w.Now()
		for range u.o.Rounds {
			if err := once(); err != nil {
				return 0, err
			}
		}
		u.took.Local()[0] = int64(u.w.Now() - start)
		if err := pgas.MaxReduce(ctx, u.w.Team(), all, all); err != nil {
			return 0, err
		}
		best = max(best, float64(u.w.NPEs()*u.o.Rounds)/(float64(max(u.took.Local()[0], 1))/1e9))
	}
	return best, nil
}

// bestOf tries settings and returns the one with the highest rate. All PEs have the same figures, and choose the same.
func bestOf[O any](ctx context.Context, u *tuner, settings []O, try func(context.Context, O) (Trial, error)) (best O, err error) {
	top := -1.0
	for _, o := range settings {
		t, err := try(ctx, o)
		if err != nil {
			return best, err
		}
		u.result.Trials = append(u.result.Trials, t)
		if t.Rate > top {
			best, top = o, t.Rate
		}
	}
	return best, nil
}
