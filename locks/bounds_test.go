package locks_test

// No PE starves: how long PEs wait, in holders before them, in the simulator's realistic time. Every PE
// wants the lock again as soon as it has been inside.

import (
	"context"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// An entry is a PE that has entered, and how many had entered when it asked.
type entry struct {
	pe, asked int
	reads     bool
}

// entries runs npes PEs that enter rounds times each, those from firstReader on as readers, and returns their
// entries in order, until the first PE has no more to do.
func entries(t *testing.T, cfg sim.Config, npes, firstReader, rounds int, make func(context.Context, *pgas.World) (locks.Lock, error)) []entry {
	t.Helper()
	var log []entry
	end := -1
	_, err := sim.Run(t.Context(), cfg, npes, func(ctx context.Context, w *pgas.World) error {
		l, err := make(ctx, w)
		if err != nil {
			return err
		}
		for range rounds {
			e := entry{pe: w.PE(), asked: len(log), reads: w.PE() >= firstReader}
			lock, unlock := l.Lock, l.Unlock
			if e.reads {
				lock, unlock = l.(locks.RWLock).RLock, l.(locks.RWLock).RUnlock
			}
			if err := lock(ctx); err != nil {
				return err
			}
			log = append(log, e)
			if err := w.Sleep(ctx, 1000); err != nil {
				return err
			}
			unlock()
		}
		if end < 0 {
			end = len(log)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return log[:end]
}

// longestRun returns the greatest number of entries in a row that count and are alike.
func longestRun(log []entry, counts func(entry) bool, alike func(a, b entry) bool) (most int) {
	n := 0
	for i, e := range log {
		if i > 0 && !alike(e, log[i-1]) {
			n = 0
		}
		if counts(e) {
			n++
		}
		most = max(most, n)
	}
	return most
}

func TestBounds(t *testing.T) {
	fours := sim.Config{Topology: "host:4"}
	for name, make := range map[string]lockstest.Maker{"D-MCS": makeDMCS, "N-CoSED": makeNCoSED} {
		t.Run(name, func(t *testing.T) {
			for i, e := range entries(t, fours, 8, 8, 20, make) {
				// A PE may be overtaken until it is in the queue, by PEs that are near its tail.
				if before := i - e.asked; before > 2*8 {
					t.Fatalf("PE %d waited for %d holders", e.pe, before)
				}
			}
		})
	}
	t.Run("T_L", func(t *testing.T) {
		log := entries(t, fours, 8, 8, 40, makeRMAMCS(0, 3))
		all := func(entry) bool { return true }
		if n := longestRun(log, all, func(a, b entry) bool { return a.pe/4 == b.pe/4 }); n != 3 {
			t.Fatalf("the lock stayed on a host for up to %d holders, and T_L is 3", n)
		}
	})
	t.Run("T_W", func(t *testing.T) {
		const tw = 5
		log := entries(t, fours, 8, 6, 40, makeRMARW(locks.RMARWOptions{TL: []int{4, 4}, TW: tw, TR: 4}))
		writes := func(e entry) bool { return !e.reads }
		if n := longestRun(log, writes, func(a, b entry) bool { return a.reads == b.reads }); n < tw || n > 2*tw {
			t.Fatalf("readers waited while %d writers entered, and T_W is %d", n, tw)
		}
	})
	t.Run("T_R", func(t *testing.T) {
		const tr = 4
		for i, e := range entries(t, fours, 8, 1, 40, makeRMARW(locks.RMARWOptions{TR: tr, TDC: 8})) {
			// Beside T_R there are those inside, and those that come while the writer's news is on its way.
			if before := i - e.asked; !e.reads && before > tr+2*8 {
				t.Fatalf("the writer waited for %d readers, and T_R is %d", before, tr)
			}
		}
	})
}

// TestMisuse: a PE unlocks only what it has locked.
func TestMisuse(t *testing.T) {
	for name, make := range map[string]func(context.Context, *pgas.World) (locks.Lock, error){
		"Spin": makeSpin, "SpinRW": makeSpinRW, "D-MCS": makeDMCS, "RMA-MCS": makeRMAMCS(), "RMA-RW": makeRMARW(locks.RMARWOptions{}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sim.Run(t.Context(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
				l, err := make(ctx, w)
				if err != nil {
					return err
				}
				mustMisuse(t, l.Unlock)
				if rw, ok := l.(locks.RWLock); ok {
					mustMisuse(t, rw.RUnlock)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestBadOptions: what cannot be is said, with what can.
func TestBadOptions(t *testing.T) {
	_, err := sim.Run(t.Context(), twoOnHost, 4, func(ctx context.Context, w *pgas.World) error {
		mcs, err := locks.AllocRMAMCSState(ctx, w, 1)
		if err != nil {
			return err
		}
		rw, err := locks.AllocRMARWState(ctx, w, 1)
		if err != nil {
			return err
		}
		for want, o := range map[string]locks.RMAMCSOptions{
			"3 values of T_L, and the lock has 2 levels": {TL: []int{1, 2, 3}},
			"T_L = -1 for level host":                    {TL: []int{0, -1}},
			"level":                                      {Levels: []string{"galaxy"}},
		} {
			if _, err := locks.NewRMAMCS(ctx, w, mcs.At(0), o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", o, err, want)
			}
		}
		for _, o := range []locks.RMARWOptions{{TDC: -1}, {TR: -1}, {TR: 1 << 40}, {TW: -1}, {TW: 1 << 30}} {
			if _, err := locks.NewRMARW(ctx, w, rw.At(0), o); err == nil || !strings.Contains(err.Error(), "T_R is at most") {
				t.Errorf("%+v: %v", o, err)
			}
		}
		spin, err := locks.AllocSpinState(ctx, w, 1)
		if err != nil {
			return err
		}
		mustMisuse(t, func() { locks.NewSpin(w, spin.At(0), locks.SpinOptions{Home: 4}) })
		mustMisuse(t, func() { locks.NewSpin(w, spin.At(0), locks.SpinOptions{Home: -1}) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func mustMisuse(t *testing.T, f func()) {
	defer func() {
		if _, ok := recover().(*pgas.UsageError); !ok {
			t.Error("no *pgas.UsageError")
		}
	}()
	f()
}
