package containers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestMapDeaths: whenever a member dies, perhaps with a lock, the others end with its *pgas.PeerError.
func TestMapDeaths(t *testing.T) {
	for at := range 40 {
		cfg := sim.Config{Topology: "host:2", Deaths: []sim.Death{{PE: 2, At: time.Duration(50+7*at) * time.Microsecond}}}
		ended := 0
		_, err := sim.Run(t.Context(), cfg, 3, func(ctx context.Context, w *pgas.World) error {
			err := updatesFor(ctx, w, 2*time.Millisecond)
			var peer *pgas.PeerError
			if !errors.As(err, &peer) || peer.PE != 2 {
				return fmt.Errorf("PE 2 is dead, and the updates ended with %w", err)
			}
			ended++
			return nil
		})
		if err != nil || ended != 2 {
			t.Errorf("death at %v: %d members have ended: %v", cfg.Deaths[0].At, ended, err)
		}
	}
}

// updatesFor updates few keys for a time, and returns the first error.
func updatesFor(ctx context.Context, w *pgas.World, d time.Duration) (err error) {
	m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(10))
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			if err = w.Recovered(p); err == nil {
				panic(p)
			}
		}
	}()
	for i := 0; w.Now() < d; i++ {
		if err := m.Update(ctx, i%4, 1, func(old, v int64) int64 { return old + v }); err != nil {
			return err
		}
		m.Find((i + 1) % 4)
	}
	return w.Barrier(ctx)
}

// TestMapCombinePanics: a combine that panics leaves the map as it was, and free.
func TestMapCombinePanics(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		if err := m.Set(ctx, 1, 7); err != nil {
			return err
		}
		func() {
			defer func() { recover() }()
			_ = m.Update(ctx, 1, 1, func(old, v int64) int64 { panic("no") })
		}()
		if v, ok := m.Find(1); !ok || v != 7 {
			return fmt.Errorf("Find: %d, %t", v, ok)
		}
		return m.Set(ctx, 1, 7)
	})
}

// TestMapOver: a team has a map, and the PEs that are no members take part in making and freeing it.
func TestMapOver(t *testing.T) {
	pgastest.Run(t, 4, func(ctx context.Context, w *pgas.World) error {
		odd, err := w.Team().SplitStrided(ctx, 1, 2, 2)
		if err != nil {
			return err
		}
		m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(100), containers.Over(odd))
		if err != nil {
			return err
		}
		if odd != nil {
			mine := map[int]int64{odd.PE(): 1, 10: 1}
			if err := m.UpdateAll(ctx, maps.All(mine), func(old, v int64) int64 { return old + v }); err != nil {
				return err
			}
			if got, want := maps.Collect(m.All()), (map[int]int64{0: 1, 1: 1, 10: 2}); !maps.Equal(got, want) {
				return fmt.Errorf("the map has %v, want %v", got, want)
			}
			if err := odd.Barrier(ctx); err != nil {
				return err
			}
		}
		return m.Free(ctx)
	})
}

// TestMapMisuse: calls that cannot be right panic with one clear line.
func TestMapMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int](ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		freed, err := containers.NewMap[int, int](ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		if err := freed.Free(ctx); err != nil {
			return err
		}
		inserting, err := containers.NewMap[int, int](ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		if err := inserting.OnlyInserts(ctx); err != nil {
			return err
		}
		still, err := containers.NewMap[int, int](ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		if err := still.OnlyFinds(ctx); err != nil {
			return err
		}
		var none *containers.Map[int, int]
		var zero containers.Map[int, int]
		var nilctx context.Context
		add := func(old, v int) int { return old + v }
		return misuses(t, map[string]func(){
			"pointer key":          func() { containers.NewMap[*int, int](ctx, w) },
			"string in a key":      func() { containers.NewMap[struct{ s [2]string }, int](ctx, w) },
			"slice value":          func() { containers.NewMap[int, []int](ctx, w) },
			"float key":            func() { containers.NewMap[[2]float64, int](ctx, w) },
			"no capacity":          func() { containers.NewMap[int, int](ctx, w, containers.Capacity(0)) },
			"foreign option":       func() { containers.NewMap[int, int](ctx, w, containers.Home(0)) },
			"no context":           func() { containers.NewMap[int, int](nilctx, w) },
			"nil Find":             func() { none.Find(1) },
			"zero Find":            func() { zero.Find(1) },
			"zero Update":          func() { zero.Update(ctx, 1, 1, add) },
			"freed Set":            func() { freed.Set(ctx, 1, 1) },
			"freed All":            func() { freed.All() },
			"Set without ctx":      func() { m.Set(nilctx, 1, 1) },
			"Update by nothing":    func() { m.Update(ctx, 1, 1, nil) },
			"UpdateAll of nil":     func() { m.UpdateAll(ctx, nil, add) },
			"Insert when still":    func() { still.Insert(ctx, 1, 1) },
			"SetAll when still":    func() { still.SetAll(ctx, maps.All(map[int]int{})) },
			"Find when inserting":  func() { inserting.Find(1) },
			"Set when inserting":   func() { inserting.Set(ctx, 1, 1) },
			"All when inserting":   func() { inserting.All() },
			"Local when inserting": func() { inserting.Local() },
			"Len when inserting":   func() { inserting.Len(ctx) },
			"Save when inserting":  func() { inserting.Save(ctx, "x") },
			"FindAll when so":      func() { inserting.FindAll(ctx, nil) },
			"Insert without ctx":   func() { inserting.Insert(nilctx, 1, 1) },
			"OnlyInserts of nil":   func() { none.OnlyInserts(ctx) },
			"Len of nil":           func() { none.Len(ctx) },
			"Save of nil":          func() { none.Save(ctx, "x") },
			"SetAll of nil":        func() { none.SetAll(ctx, maps.All(map[int]int{})) },
			"OnlyInserts, no ctx":  func() { m.OnlyInserts(nilctx) },
			"a promise in a batch": func() { m.SetAll(ctx, func(yield func(int, int) bool) { m.OnlyInserts(ctx) }) },
			"combine uses it":      func() { m.SetAll(ctx, func(yield func(int, int) bool) { m.Find(1) }) },
			"free of nothing":      func() { none.Free(ctx) },
		})
	})
}
