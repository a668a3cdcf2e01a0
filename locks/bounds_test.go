package locks_test

// Nobody starves: how long PEs wait, in holders before them, in the simulator's realistic time. Everybody
// wants the lock again as soon as it has been inside.

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// An entry is a PE that has entered, and how many had entered when it asked.
type entry struct {
	pe, asked int
	reads     bool
}

// entries runs npes PEs that enter rounds times each, those from firstReader on as readers, and returns
// who entered in which order, without the end, when some want nothing any more.
func entries(t *testing.T, cfg sim.Config, npes, firstReader, rounds int, make func(context.Context, *pgas.World) (locks.Lock, error)) []entry {
	t.Helper()
	var log []entry
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
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return log[:len(log)/2]
}

// longestRun is the greatest number of entries in a row that are alike.
func longestRun[K comparable](log []entry, key func(entry) K) (most int) {
	n := 0
	for i, e := range log {
		if i == 0 || key(e) != key(log[i-1]) {
			n = 0
		}
		n++
		most = max(most, n)
	}
	return most
}

func TestBounds(t *testing.T) {
	fours := sim.Config{Topology: "host:4"}
	t.Run("D-MCS", func(t *testing.T) {
		for i, e := range entries(t, fours, 8, 8, 20, makeDMCS) {
			// Who asks may be overtaken until it is in the queue, by those that are near its tail.
			if before := i - e.asked; before > 2*8 {
				t.Fatalf("PE %d waited for %d holders", e.pe, before)
			}
		}
	})
	t.Run("T_L", func(t *testing.T) {
		log := entries(t, fours, 8, 8, 40, makeRMAMCS(0, 3))
		if n := longestRun(log, func(e entry) int { return e.pe / 4 }); n != 3 {
			t.Fatalf("the lock stayed on a host for up to %d holders, and T_L is 3", n)
		}
	})
	t.Run("T_W", func(t *testing.T) {
		const tw = 5
		log := entries(t, fours, 8, 6, 40, makeRMARW(locks.RMARWOptions{TL: []int{4, 4}, TW: tw}))
		if n := longestRun(log, func(e entry) bool { return e.reads }); n > 2*tw {
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

func mustMisuse(t *testing.T, f func()) {
	defer func() {
		if _, ok := recover().(*pgas.UsageError); !ok {
			t.Error("no *pgas.UsageError")
		}
	}()
	f()
}
