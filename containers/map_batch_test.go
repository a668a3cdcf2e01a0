package containers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// mapRounds are rounds of batches that all members can compute: what each gives in a round.
func mapRound(seed uint64, round, pe int) map[int]int64 {
	rnd := rand.New(rand.NewPCG(seed, uint64(round<<8|pe)))
	given := map[int]int64{}
	for range rnd.IntN(200) {
		given[rnd.IntN(300)] = int64(rnd.IntN(1000))
	}
	return given
}

// TestMapBatches: batches of all kinds against one Go map that every member keeps.
func TestMapBatches(t *testing.T) {
	seed := mapSeed(t)
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(300), containers.Ring(512))
		if err != nil {
			return err
		}
		want := map[int]int64{}
		for round := range 6 {
			mine := mapRound(seed, round, w.PE())
			if err := batchRound(ctx, m, round, mine); err != nil {
				return err
			}
			for pe := range w.NPEs() {
				for k, v := range mapRound(seed, round, pe) {
					if round%3 == 2 {
						delete(want, k)
					} else {
						want[k] += v
					}
				}
			}
			if err := mapAnswers(ctx, m, want); err != nil {
				return fmt.Errorf("PE %d, round %d: %w", w.PE(), round, err)
			}
		}
		return m.Free(ctx)
	})
}

func batchRound(ctx context.Context, m *containers.Map[int, int64], round int, mine map[int]int64) error {
	if round%3 == 2 {
		return m.DeleteAll(ctx, maps.Keys(mine))
	}
	return m.UpdateAll(ctx, maps.All(mine), func(old, v int64) int64 { return old + v })
}

// mapAnswers asks a map for keys that are there and keys that are not, one by one and together.
func mapAnswers(ctx context.Context, m *containers.Map[int, int64], want map[int]int64) error {
	keys := make([]int, 320)
	for i := range keys {
		keys[i] = (i * 7) % len(keys)
	}
	values, found, err := m.FindAll(ctx, keys)
	if err != nil {
		return err
	}
	if err := m.OnlyFinds(ctx); err != nil {
		return err
	}
	for i, k := range keys {
		v, is := want[k]
		one, ok := m.Find(k)
		if values[i] != v || found[i] != is || one != v || ok != is {
			return fmt.Errorf("key %d: FindAll %d, %t; Find %d, %t; want %d, %t", k, values[i], found[i], one, ok, v, is)
		}
	}
	return m.Writes(ctx)
}

// TestMapBatchesKeepAndReplace: InsertAll keeps what is there, SetAll does not.
func TestMapBatchesKeepAndReplace(t *testing.T) {
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(100))
		if err != nil {
			return err
		}
		want := map[int]int64{1: 10, 2: 20}
		mine := func(all map[int]int64) map[int]int64 {
			if w.PE() == 0 {
				return all
			}
			return nil
		}
		err = errors.Join(
			m.InsertAll(ctx, maps.All(mine(want))),
			m.InsertAll(ctx, maps.All(mine(map[int]int64{2: 21, 3: 30}))),
			m.SetAll(ctx, maps.All(mine(map[int]int64{1: 11}))))
		if err != nil {
			return err
		}
		return mapAnswers(ctx, m, map[int]int64{1: 11, 2: 20, 3: 30})
	})
}

// TestMapBatchFull: all members learn that a batch does not fit, and what fits is there.
func TestMapBatchFull(t *testing.T) {
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		mine := map[int]int64{}
		for k := range 1000 {
			mine[k*w.NPEs()+w.PE()] = 1
		}
		var full *containers.MapFullError
		if err := m.InsertAll(ctx, maps.All(mine)); !errors.As(err, &full) || full.Capacity != 10 {
			return fmt.Errorf("a batch that is too large ended with %v", err)
		}
		n, err := m.Len(ctx)
		if err != nil || n < 10 || n >= 3000 {
			return fmt.Errorf("%d elements are there: %v", n, err)
		}
		return m.Free(ctx)
	})
}
