package kinds

import (
	"context"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

// Options are the options of all kinds together. A kind ignores those that it does not take, and 0 is its default.
type Options struct {
	Home                      int      // the PE that has the words of the lock
	Levels                    []string // the levels of the topology that count
	TL                        []int    // T_L of each level, from the machine inwards
	TDC, TR, TW               int
	Sequential                bool // writers of an RMA-RW lock go from counter to counter, as in the paper
	RemoteBudget, LocalBudget int  // the budgets of an ALock
}

// allocator is Kind.Alloc of one kind.
type allocator func(ctx context.Context, w *pgas.World, o Options) (l locks.Lock, free func(context.Context) error, err error)

// states are the states of locks that are allocated together.
type states[R, T any] interface {
	At(i int) R
	Sym() pgas.Sym[T]
}

// one allocates one state by alloc, and makes the handle by open.
func one[S states[R, T], R, T any](ctx context.Context, w *pgas.World, alloc func(context.Context, *pgas.World, int) (S, error), open func(R) (locks.Lock, error)) (l locks.Lock, free func(context.Context) error, err error) {
	s, err := alloc(ctx, w, 1)
	if err != nil {
		return nil, nil, err
	}
	l, err = open(s.At(0))
	return l, s.Sym().Free, err
}

func allocSpin(ctx context.Context, w *pgas.World, o Options) (locks.Lock, func(context.Context) error, error) {
	return one(ctx, w, locks.AllocSpinState, func(s locks.SpinStateRef) (locks.Lock, error) {
		return locks.NewSpin(w, s, locks.SpinOptions{Home: o.Home}), nil
	})
}

func allocSpinRW(ctx context.Context, w *pgas.World, o Options) (locks.Lock, func(context.Context) error, error) {
	return one(ctx, w, locks.AllocSpinState, func(s locks.SpinStateRef) (locks.Lock, error) {
		return locks.NewSpinRW(w, s, locks.SpinOptions{Home: o.Home}), nil
	})
}

func allocDMCS(ctx context.Context, w *pgas.World, o Options) (locks.Lock, func(context.Context) error, error) {
	return one(ctx, w, locks.AllocDMCSState, func(s locks.DMCSStateRef) (locks.Lock, error) {
		return locks.NewDMCS(w, s, locks.DMCSOptions{Home: o.Home}), nil
	})
}

// allocALock opens the context for the CPU, so that free can close it.
func allocALock(ctx context.Context, w *pgas.World, o Options) (locks.Lock, func(context.Context) error, error) {
	cpu, err := w.NewContext(pgas.ByCPU())
	if err != nil {
		return nil, nil, err
	}
	l, free, err := one(ctx, w, locks.AllocALockState, func(s locks.ALockStateRef) (locks.Lock, error) {
		return locks.NewALock(w, s, locks.ALockOptions{Home: o.Home, RemoteBudget: o.RemoteBudget, LocalBudget: o.LocalBudget, CPU: cpu})
	})
	return l, func(ctx context.Context) error {
		if err := free(ctx); err != nil {
			return err
		}
		return cpu.Close()
	}, err
}

func allocRMAMCS(ctx context.Context, w *pgas.World, o Options) (locks.Lock, func(context.Context) error, error) {
	return one(ctx, w, locks.AllocRMAMCSState, func(s locks.RMAMCSStateRef) (locks.Lock, error) {
		return locks.NewRMAMCS(ctx, w, s, locks.RMAMCSOptions{Levels: o.Levels, TL: o.TL})
	})
}

func allocRMARW(ctx context.Context, w *pgas.World, o Options) (locks.Lock, func(context.Context) error, error) {
	return one(ctx, w, locks.AllocRMARWState, func(s locks.RMARWStateRef) (locks.Lock, error) {
		return locks.NewRMARW(ctx, w, s, locks.RMARWOptions{Levels: o.Levels, TL: o.TL, TDC: o.TDC, TR: o.TR, TW: o.TW, Sequential: o.Sequential})
	})
}

func allocNCoSED(ctx context.Context, w *pgas.World, o Options) (locks.Lock, func(context.Context) error, error) {
	return one(ctx, w, locks.AllocNCoSEDState, func(s locks.NCoSEDStateRef) (locks.Lock, error) {
		return locks.NewNCoSED(w, s, locks.NCoSEDOptions{Home: o.Home}), nil
	})
}

func allocDQNL(ctx context.Context, w *pgas.World, o Options) (locks.Lock, func(context.Context) error, error) {
	return one(ctx, w, locks.AllocDQNLState, func(s locks.DQNLStateRef) (locks.Lock, error) {
		return locks.NewDQNL(w, s, locks.DQNLOptions{Home: o.Home}), nil
	})
}

// allocSRSL allocates the inbox, too.
func allocSRSL(ctx context.Context, w *pgas.World, o Options) (locks.Lock, func(context.Context) error, error) {
	inbox, err := pgas.Alloc[int64](ctx, w, w.NPEs())
	if err != nil {
		return nil, nil, err
	}
	l, free, err := one(ctx, w, locks.AllocSRSLState, func(s locks.SRSLStateRef) (locks.Lock, error) {
		return locks.NewSRSL(w, s, inbox.All(), locks.SRSLOptions{Home: o.Home}), nil
	})
	return l, func(ctx context.Context) error {
		if err := inbox.Free(ctx); err != nil {
			return err
		}
		return free(ctx)
	}, err
}
