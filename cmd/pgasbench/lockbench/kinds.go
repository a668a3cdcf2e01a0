package lockbench

// The locks that are compared, by the names that the papers have for them.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

// A kind is one of them, and which parameters it has.
type kind struct {
	name, doc string
	shared    bool // readers share it
	counters  bool // T_DC, T_R, T_W
	levels    bool // T_L
	budgets   bool // remote and local
	polls     bool // over the network
	// alloc is collective, as is free. It is nil for what only some benches know how to make.
	alloc func(ctx context.Context, w *pgas.World, c config) (l locks.Lock, free func(context.Context) error, err error)
}

var kinds = []kind{
	{
		name: "foMPI-Spin", doc: "one word, tried again and again", polls: true,
		alloc: func(ctx context.Context, w *pgas.World, _ config) (locks.Lock, func(context.Context) error, error) {
			s, err := locks.AllocSpinState(ctx, w, 1)
			if err != nil {
				return nil, nil, err
			}
			return locks.NewSpin(w, s.At(0), locks.SpinOptions{}), s.Sym().Free, nil
		},
	},
	{
		name: "foMPI-RW", doc: "the same with readers", shared: true,
		alloc: func(ctx context.Context, w *pgas.World, _ config) (locks.Lock, func(context.Context) error, error) {
			s, err := locks.AllocSpinState(ctx, w, 1)
			if err != nil {
				return nil, nil, err
			}
			return locks.NewSpinRW(w, s.At(0), locks.SpinOptions{}), s.Sym().Free, nil
		},
	},
	{
		name: "D-MCS", doc: "a queue of PEs",
		alloc: func(ctx context.Context, w *pgas.World, _ config) (locks.Lock, func(context.Context) error, error) {
			s, err := locks.AllocDMCSState(ctx, w, 1)
			if err != nil {
				return nil, nil, err
			}
			return locks.NewDMCS(w, s.At(0), locks.DMCSOptions{}), s.Sym().Free, nil
		},
	},
	{
		name: "RMA-MCS", doc: "a tree of queues along the topology", levels: true,
		alloc: func(ctx context.Context, w *pgas.World, c config) (locks.Lock, func(context.Context) error, error) {
			s, err := locks.AllocRMAMCSState(ctx, w, 1)
			if err != nil {
				return nil, nil, err
			}
			l, err := locks.NewRMAMCS(ctx, w, s.At(0), locks.RMAMCSOptions{Levels: c.Levels, TL: c.TL})
			return l, s.Sym().Free, err
		},
	},
	{
		name: "RMA-RW", doc: "such a tree, and a counter for readers", shared: true, counters: true, levels: true,
		alloc: func(ctx context.Context, w *pgas.World, c config) (locks.Lock, func(context.Context) error, error) {
			return allocRMARW(ctx, w, c, false)
		},
	},
	{
		name: "RMA-RW-seq", doc: "the same, its writers at one counter after the other, as in the paper", shared: true, counters: true, levels: true,
		alloc: func(ctx context.Context, w *pgas.World, c config) (locks.Lock, func(context.Context) error, error) {
			return allocRMARW(ctx, w, c, true)
		},
	},
	{
		name: "N-CoSED", doc: "one word for writers and readers", shared: true,
		alloc: func(ctx context.Context, w *pgas.World, _ config) (locks.Lock, func(context.Context) error, error) {
			s, err := locks.AllocNCoSEDState(ctx, w, 1)
			if err != nil {
				return nil, nil, err
			}
			return locks.NewNCoSED(w, s.At(0), locks.NCoSEDOptions{}), s.Sym().Free, nil
		},
	},
	{
		name: "DQNL", doc: "a queue of PEs, entered by compare-swap",
		alloc: func(ctx context.Context, w *pgas.World, _ config) (locks.Lock, func(context.Context) error, error) {
			s, err := locks.AllocDQNLState(ctx, w, 1)
			if err != nil {
				return nil, nil, err
			}
			return locks.NewDQNL(w, s.At(0), locks.DQNLOptions{}), s.Sym().Free, nil
		},
	},
	{
		name: "ALock", doc: "two queues: the host of the lock, and the others", budgets: true,
		alloc: func(ctx context.Context, w *pgas.World, c config) (locks.Lock, func(context.Context) error, error) {
			cpu, err := w.NewContext(pgas.ByCPU())
			if err != nil {
				return nil, nil, err
			}
			s, err := locks.AllocALockState(ctx, w, 1)
			if err != nil {
				return nil, nil, err
			}
			l, err := locks.NewALock(w, s.At(0), locks.ALockOptions{RemoteBudget: c.Remote, LocalBudget: c.Local, CPU: cpu})
			return l, func(ctx context.Context) error {
				if err := s.Sym().Free(ctx); err != nil {
					return err
				}
				return cpu.Close()
			}, err
		},
	},
	// Those of benches that make them by themselves.
	{name: "foMPI-A", doc: "no lock: atomics only, for the hashtable", shared: true},
	{name: "SRSL", doc: "a PE serves: for basic and cascade", shared: true},
	{name: "MCS", doc: "of a table: a queue of PEs"},
	{name: "MCS-CAS", doc: "of a table: a queue of PEs, entered by compare-swap, as the paper's MCS"},
	{name: "spin", doc: "of a table: one word, tried without a pause"},
}

func allocRMARW(ctx context.Context, w *pgas.World, c config, sequential bool) (locks.Lock, func(context.Context) error, error) {
	s, err := locks.AllocRMARWState(ctx, w, 1)
	if err != nil {
		return nil, nil, err
	}
	o := locks.RMARWOptions{Levels: c.Levels, TL: c.TL, TDC: c.TDC, TR: c.TR, TW: c.TW, Sequential: sequential}
	l, err := locks.NewRMARW(ctx, w, s.At(0), o)
	return l, s.Sym().Free, err
}

func kindOf(name string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

func kindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}
