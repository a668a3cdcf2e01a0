package containers_test

// A Map against Go's own map, on every kind of PE. The operations of a run come from a seed; MAP_SEED replays one.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

const mapSeedVar = "MAP_SEED"

// mapSeed returns the seed of this run, which the processes of a test share through the environment.
func mapSeed(t *testing.T) uint64 {
	if os.Getenv(mapSeedVar) == "" {
		t.Setenv(mapSeedVar, strconv.FormatInt(time.Now().UnixNano(), 10))
	}
	n, err := strconv.ParseUint(os.Getenv(mapSeedVar), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", mapSeedVar, err)
	}
	t.Logf("%s=%d go test -run '^%s$' replays this", mapSeedVar, n, t.Name())
	return n
}

// wideKey has gaps between its fields.
type wideKey struct {
	a int8
	b int64
	c [3]uint8
}

// wideValue proves that it is of one piece.
type wideValue struct {
	n    int64
	copy [6]int64
	half int32
}

func wideValueOf(n int64) wideValue {
	v := wideValue{n: n, half: int32(n / 2)}
	for i := range v.copy {
		v.copy[i] = n ^ int64(i)
	}
	return v
}

func (v wideValue) whole() error {
	if v != wideValueOf(v.n) {
		return fmt.Errorf("the value %+v is of two pieces", v)
	}
	return nil
}

// mapProgram is a random program of one member on its own keys, held against a Go map.
type mapProgram[K comparable, V comparable] struct {
	m     *containers.Map[K, V]
	rnd   *rand.Rand
	key   func(i int) K
	value func(n int64) V
	keys  int
	want  map[K]V
}

// step does one operation and compares its result.
func (p *mapProgram[K, V]) step(ctx context.Context) error {
	k, v := p.key(p.rnd.IntN(p.keys)), p.value(int64(p.rnd.Uint32()))
	old, was := p.want[k]
	switch p.rnd.IntN(6) {
	case 0:
		inserted, err := p.m.Insert(ctx, k, v)
		if err != nil || inserted == was {
			return fmt.Errorf("Insert(%v): %t, %v; it was there: %t", k, inserted, err, was)
		}
		if !was {
			p.want[k] = v
		}
	case 1:
		p.want[k] = v
		return p.m.Set(ctx, k, v)
	case 2:
		err := p.m.Update(ctx, k, v, func(was, v V) V {
			if was != old {
				panic(fmt.Sprintf("Update(%v) sees %v, want %v", k, was, old))
			}
			return v
		})
		p.want[k] = v
		return err
	case 3:
		deleted, err := p.m.Delete(ctx, k)
		if err != nil || deleted != was {
			return fmt.Errorf("Delete(%v): %t, %v; it was there: %t", k, deleted, err, was)
		}
		delete(p.want, k)
	default:
		if got, ok := p.m.Find(k); ok != was || got != old {
			return fmt.Errorf("Find(%v): %v, %t; want %v, %t", k, got, ok, old, was)
		}
	}
	return nil
}

// runMapProgram has each member run a program on keys of its own among those of all, and compares the whole in the end.
func runMapProgram[K comparable, V comparable](ctx context.Context, w *pgas.World, seed uint64, steps, keys int, key func(i int) K, value func(int64) V) error {
	m, err := containers.NewMap[K, V](ctx, w, containers.Capacity(keys))
	if err != nil {
		return err
	}
	n := w.NPEs()
	p := &mapProgram[K, V]{m: m, rnd: rand.New(rand.NewPCG(seed, uint64(w.PE()))), value: value, keys: keys / n, want: map[K]V{}}
	p.key = func(i int) K { return key(i*n + w.PE()) }
	for range steps {
		if err := p.step(ctx); err != nil {
			return fmt.Errorf("PE %d: %w", w.PE(), err)
		}
	}
	if err := mapHolds(ctx, w, m, p.want); err != nil {
		return err
	}
	return m.Free(ctx)
}

// mapHolds compares the elements of m with what the members want, each its own part.
func mapHolds[K comparable, V comparable](ctx context.Context, w *pgas.World, m *containers.Map[K, V], mine map[K]V) error {
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	all, local := map[K]V{}, 0
	for k, v := range m.All() {
		if _, twice := all[k]; twice {
			return fmt.Errorf("All meets %v twice", k)
		}
		all[k] = v
	}
	for k, v := range m.Local() {
		if got, ok := all[k]; !ok || got != v || m.Home(k) != w.PE() {
			return fmt.Errorf("Local meets %v: %v, All %v, home %d", k, v, got, m.Home(k))
		}
		local++
	}
	if local != m.LocalLen() {
		return fmt.Errorf("Local meets %d elements of %d", local, m.LocalLen())
	}
	n, err := m.Len(ctx)
	if err != nil || n != len(all) {
		return fmt.Errorf("Len %d, %v; All meets %d", n, err, len(all))
	}
	total, err := pgas.SumValue(ctx, w.Team(), len(mine))
	if err != nil || total != n {
		return fmt.Errorf("%d elements, want %d: %v", n, total, err)
	}
	maps.DeleteFunc(all, func(k K, v V) bool { want, ok := mine[k]; return !ok || want != v })
	if len(all) != len(mine) {
		return fmt.Errorf("PE %d: %d of its %d elements are right", w.PE(), len(all), len(mine))
	}
	return w.Barrier(ctx)
}

func TestMapOracle(t *testing.T) {
	seed := mapSeed(t)
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		identity := func(n int64) int64 { return n }
		key := func(i int) uint64 { return uint64(i) }
		if err := runMapProgram(ctx, w, seed, 1200, 900, key, identity); err != nil {
			return err
		}
		return runMapProgram(ctx, w, seed, 600, 30, key, identity)
	})
}

func TestMapOracleOfWideElements(t *testing.T) {
	seed := mapSeed(t)
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		key := func(i int) wideKey { return wideKey{int8(i), int64(i / 3), [3]uint8{1, 2, uint8(i)}} }
		return runMapProgram(ctx, w, seed, 800, 200, key, wideValueOf)
	})
}

// TestMapCounts: all members add to the same keys, and read them meanwhile.
func TestMapCounts(t *testing.T) {
	const keys, rounds = 40, 25
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, wideValue](ctx, w, containers.Capacity(1000))
		if err != nil {
			return err
		}
		last := make([]int64, keys)
		for range rounds {
			for k := range keys {
				if err := m.Update(ctx, k, wideValueOf(1), func(old, v wideValue) wideValue { return wideValueOf(old.n + v.n) }); err != nil {
					return err
				}
				got, ok := m.Find(k)
				if err := got.whole(); err != nil || !ok || got.n <= last[k] {
					return fmt.Errorf("Find(%d): %d, %t after %d: %v", k, got.n, ok, last[k], err)
				}
				last[k] = got.n
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for k := range keys {
			if got, ok := m.Find(k); !ok || got.n != int64(rounds*w.NPEs()) {
				return fmt.Errorf("Find(%d): %d, %t", k, got.n, ok)
			}
		}
		return w.Barrier(ctx)
	})
}

// TestMapGrowsWhileOthersFind: one member inserts, the others find everything that was there before, all the time.
func TestMapGrowsWhileOthersFind(t *testing.T) {
	const first, more = 50, 1200
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int](ctx, w, containers.Capacity(first+more))
		if err != nil {
			return err
		}
		over, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		grown := pgas.AtomicOf(over, 0)
		for k := w.PE(); k < first; k += w.NPEs() {
			if _, err := m.Insert(ctx, k, -k); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 0 {
			for k := first; k < first+more; k++ {
				if _, err := m.Insert(ctx, k, -k); err != nil {
					return err
				}
			}
			for pe := range w.NPEs() {
				grown.Set(pe, 1)
			}
		}
		for w.PE() != 0 && grown.Test(pgas.EQ, 0) {
			for k := range first {
				if v, ok := m.Find(k); !ok || v != -k {
					return fmt.Errorf("Find(%d): %d, %t while the map grows", k, v, ok)
				}
			}
			old := 0
			for k, v := range m.All() {
				if v != -k {
					return fmt.Errorf("All: %d: %d", k, v)
				}
				if k < first {
					old++
				}
			}
			if old != first {
				return fmt.Errorf("All meets %d of the first %d elements while the map grows", old, first)
			}
			w.Yield()
		}
		return w.Barrier(ctx)
	})
}

// TestMapDefault: maps for which the program names no capacity fit into heaps of every size, several beside each other.
func TestMapDefault(t *testing.T) {
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		_, err := containers.NewMap[[2]int64, [10]int64](ctx, w)
		if err == nil {
			_, err = containers.NewStringMap[[4]int64](ctx, w)
		}
		if err == nil {
			_, err = containers.NewTextMap(ctx, w)
		}
		return err
	})
}

// TestMapFull: a map holds its capacity, and says when it is full.
func TestMapFull(t *testing.T) {
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		for _, capacity := range []int{1, 10, 100, 1000, 20000} {
			m, err := containers.NewMap[int, int32](ctx, w, containers.Capacity(capacity))
			if err != nil {
				return err
			}
			for k := w.PE(); k < capacity; k += w.NPEs() {
				if _, err := m.Insert(ctx, k, 1); err != nil {
					return fmt.Errorf("element %d of %d: %w", k, capacity, err)
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			var full *containers.MapFullError
			for k := 0; full == nil; k++ {
				_, err := m.Insert(ctx, capacity+k*w.NPEs()+w.PE(), 1)
				if err != nil && !errors.As(err, &full) || k > 64*capacity+10000 {
					return fmt.Errorf("%d more elements than %d: %v", k, capacity, err)
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			for k := range capacity {
				if _, ok := m.Find(k); !ok {
					return fmt.Errorf("element %d is not found when the map is full", k)
				}
			}
			if err := m.Free(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
