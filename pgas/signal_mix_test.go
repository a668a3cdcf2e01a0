package pgas_test

// Signals that one PE sets while another adds to them are misuse, if accesses are checked; whatever orders the two is
// seen, and the two are right then.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// mixing is what the PEs of a test of mixed updates share.
type mixing struct {
	w       *pgas.World
	ctx     context.Context
	signals pgas.Sym[pgas.Signal]
	data    pgas.Sym[int64]
	lock    pgas.LockRef
	team    *pgas.Team // of all PEs
}

func (m *mixing) signal(i int) pgas.SignalRef { return pgas.SignalOf(m.signals, i) }

// update is a kind of update of a signal of a PE.
type update struct {
	name string
	do   func(m *mixing, s pgas.SignalRef, pe int)
}

var one = []int64{1}

var sets = []update{
	{"Set", func(m *mixing, s pgas.SignalRef, pe int) { s.Set(pe, 1) }},
	{"Ref.PutSignal", func(m *mixing, s pgas.SignalRef, pe int) { m.data.At(m.w.PE()).PutSignal(pe, &one[0], s, 1) }},
	{"Slice.PutSignal", func(m *mixing, s pgas.SignalRef, pe int) { m.data.Range(m.w.PE(), 4).PutSignal(pe, one, s, 1) }},
	{"PutSignalNB", func(m *mixing, s pgas.SignalRef, pe int) { m.data.Range(m.w.PE(), 4).PutSignalNB(pe, one, s, 1) }},
}

var additions = []update{
	{"Add", func(m *mixing, s pgas.SignalRef, pe int) { s.Add(pe, 1) }},
	{"Ref.PutSignalAdd", func(m *mixing, s pgas.SignalRef, pe int) { m.data.At(m.w.PE()).PutSignalAdd(pe, &one[0], s, 1) }},
	{"Slice.PutSignalAdd", func(m *mixing, s pgas.SignalRef, pe int) { m.data.Range(m.w.PE(), 4).PutSignalAdd(pe, one, s, 1) }},
	{"PutSignalAddNB", func(m *mixing, s pgas.SignalRef, pe int) { m.data.Range(m.w.PE(), 4).PutSignalAddNB(pe, one, s, 1) }},
}

// newMixing allocates what PEs update.
func newMixing(ctx context.Context, w *pgas.World) (*mixing, error) {
	signals, err1 := pgas.Alloc[pgas.Signal](ctx, w, 8)
	data, err2 := pgas.Alloc[int64](ctx, w, 8)
	locks, err3 := pgas.Alloc[pgas.Lock](ctx, w, 1)
	team, err4 := w.Team().SplitStrided(ctx, 0, 1, w.NPEs())
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	return &mixing{w, ctx, signals, data, pgas.LockOf(locks, 0), team}, w.Barrier(ctx)
}

// TestSetBesideAdd: of a PE that sets a signal and one that adds to it, one at least gets a *UsageError with both
// lines.
func TestSetBesideAdd(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	body := func(ctx context.Context, w *pgas.World) error {
		m, err := newMixing(ctx, w)
		if err != nil {
			return err
		}
		for round := range max(len(sets), len(additions)) * len(sets) {
			set, add := sets[round%len(sets)], additions[round/len(sets)]
			s, to, found := m.signal(round%8), round/8%3, 0
			_, err := recoveredFrom(w, func() {
				switch w.PE() {
				case 0:
					set.do(m, s, to)
				case 1:
					add.do(m, s, to)
				}
			})
			var misuse *pgas.UsageError
			if errors.As(err, &misuse) {
				found = 1
				if !strings.Contains(misuse.At, "signal_mix_test.go:") || !strings.Contains(misuse.Msg, "signal_mix_test.go:") ||
					!strings.Contains(misuse.Msg, "Signal[") {
					return fmt.Errorf("%s beside %s: two lines and the signal are not in %w", set.name, add.name, err)
				}
			} else if err != nil {
				return err
			}
			if n, err := pgas.SumValue(ctx, w.Team(), found); err != nil || n == 0 {
				return fmt.Errorf("%s beside %s: %d PEs have found it: %w", set.name, add.name, n, err)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	pgastest.RunGoroutines(t, 3, body)
	pgastest.RunProcesses(t, 3, body)
}

// orders are what puts an add of PE 1 behind what PE 0 has done before it calls them.
var orders = map[string]func(m *mixing) error{
	"Barrier":      func(m *mixing) error { return m.w.Barrier(m.ctx) },
	"Sync":         func(m *mixing) error { return m.w.Sync(m.ctx) },
	"team barrier": func(m *mixing) error { return m.team.Barrier(m.ctx) },
	"SumValue": func(m *mixing) error {
		_, err := pgas.SumValue(m.ctx, m.w.Team(), 1)
		return err
	},
	"BroadcastValue": func(m *mixing) error {
		_, err := pgas.BroadcastValue(m.ctx, m.w.Team(), 1, 0)
		return err
	},
	"Request": func(m *mixing) error {
		return pgas.SumReduceNB(m.ctx, m.team, m.data.Range(6, 7), m.data.Range(7, 8)).Wait(m.ctx)
	},
	"Alloc": func(m *mixing) error {
		_, err := pgas.Alloc[int64](m.ctx, m.w, 1)
		return err
	},
	"signal": func(m *mixing) error {
		if m.w.PE() == 0 {
			m.w.Context().Fence()
			m.signal(7).Set(1, 1)
			return nil
		}
		_, err := m.signal(7).WaitUntil(m.ctx, pgas.EQ, 1)
		return err
	},
	"Test": func(m *mixing) error {
		return polled(m, func() bool { return m.signal(7).Test(pgas.EQ, 1) })
	},
	"Fetch": func(m *mixing) error {
		return polled(m, func() bool { return m.signal(7).Fetch() == 1 })
	},
	"wait set": func(m *mixing) error {
		if m.w.PE() == 0 {
			return polled(m, nil)
		}
		return pgas.SignalsOf(m.signals.Range(7, 8)).Until(pgas.EQ, 1).WaitAll(m.ctx)
	},
	"lock": func(m *mixing) error { // each PE has it once: the second learns of the first
		turn := pgas.AtomicOf(m.data, 4)
		for {
			if err := m.lock.Lock(m.ctx); err != nil {
				return err
			}
			mine := turn.Fetch(0) >= int64(m.w.PE())
			if mine {
				turn.Add(0, 1)
			}
			if err := m.w.Context().Quiet(m.ctx); err != nil {
				return err
			}
			m.lock.Unlock()
			if mine {
				return nil
			}
		}
	},
}

// polled has PE 0 set signal 7 of PE 1, and PE 1 poll for it.
func polled(m *mixing, seen func() bool) error {
	if m.w.PE() == 0 {
		m.w.Context().Fence()
		m.signal(7).Set(1, 1)
		return nil
	}
	for !seen() {
		if err := context.Cause(m.ctx); err != nil {
			return err
		}
		m.w.Yield()
	}
	return nil
}

// TestSetThenAdd: a set and an add that something orders are not reported, nor those of one PE, of two signals, or of
// words that are no signals.
func TestSetThenAdd(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			body := func(ctx context.Context, w *pgas.World) error {
				m, err := newMixing(ctx, w)
				if err != nil {
					return err
				}
				if w.PE() == 0 {
					m.signal(0).Set(0, 1)
				}
				if err := order(m); err != nil {
					return err
				}
				if w.PE() == 1 {
					m.signal(0).Add(0, 1)
				}
				return w.Barrier(ctx)
			}
			pgastest.RunAll(t, 2, body)
			pgastest.RunLate(t, 2, 2, body)
		})
	}
	t.Run("no mix", func(t *testing.T) {
		body := func(ctx context.Context, w *pgas.World) error {
			m, err := newMixing(ctx, w)
			if err != nil {
				return err
			}
			word := pgas.AtomicOf(m.data, 0)
			if w.PE() == 0 {
				m.signal(0).Set(0, 1)
				m.signal(0).Add(0, 1)
				m.signal(1).Set(1, 1)
				word.Set(0, 1)
			} else {
				m.signal(1).Add(0, 1)
				m.signal(2).Add(1, 1)
				word.Add(0, 1)
			}
			return w.Barrier(ctx)
		}
		pgastest.RunAll(t, 2, body)
	})
}
