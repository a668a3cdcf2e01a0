package containers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// textOf returns a text that proves that it is of one piece. Lengths are around every edge.
func textOf(n int) string {
	size := []int{0, 5, 31, 32, 63, 64, 65, 128, 129, 150}[n%10]
	text := strings.Repeat(fmt.Sprintf("%d.", n), size)
	return text[:size]
}

// TestTextMap: each member runs a random program on keys of its own beside a map of Go, and all compare all in the end.
func TestTextMap(t *testing.T) {
	seed := mapSeed(t)
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewTextMap(ctx, w, containers.Capacity(200))
		if err != nil {
			return err
		}
		p := &textProgram{m, rand.New(rand.NewPCG(seed, uint64(w.PE()))), map[string]string{}}
		for range 40 {
			if err := p.step(ctx, w.PE()); err != nil {
				return fmt.Errorf("PE %d: %w", w.PE(), err)
			}
		}
		if err := p.compare(ctx, w); err != nil {
			return fmt.Errorf("PE %d: %w", w.PE(), err)
		}
		mine := map[string]string{}
		for range 40 {
			mine[p.key(w.PE())] = textOf(p.rnd.IntN(1000))
		}
		if err := m.SetAll(ctx, maps.All(mine)); err != nil {
			return err
		}
		maps.Copy(p.want, mine)
		if err := p.compare(ctx, w); err != nil {
			return fmt.Errorf("PE %d, after SetAll: %w", w.PE(), err)
		}
		return m.Free(ctx)
	})
}

type textProgram struct {
	m    *containers.TextMap
	rnd  *rand.Rand
	want map[string]string
}

// key returns one of 30 keys of a member, of which some are long.
func (p *textProgram) key(pe int) string {
	i := p.rnd.IntN(30)
	return fmt.Sprint(pe, " ", i, strings.Repeat("k", i*7))
}

func (p *textProgram) step(ctx context.Context, pe int) error {
	k, v := p.key(pe), textOf(p.rnd.IntN(1000))
	old, was := p.want[k]
	switch p.rnd.IntN(5) {
	case 0:
		inserted, err := p.m.Insert(ctx, k, v)
		if err != nil || inserted == was {
			return fmt.Errorf("Insert: %t, %w; it was there: %t", inserted, err, was)
		}
		if !was {
			p.want[k] = v
		}
	case 1, 2:
		p.want[k] = v
		return p.m.Set(ctx, k, v)
	case 3:
		delete(p.want, k)
		if deleted, err := p.m.Delete(ctx, k); err != nil || deleted != was {
			return fmt.Errorf("Delete: %t, %w; it was there: %t", deleted, err, was)
		}
	default:
		if got, ok := p.m.Find(k); ok != was || got != old {
			return fmt.Errorf("Find: %.20q, %t; want %.20q, %t", got, ok, old, was)
		}
	}
	return nil
}

// compare compares the whole map with what the members want, each its own part.
func (p *textProgram) compare(ctx context.Context, w *pgas.World) error {
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	keys := make([]string, 0, len(p.want))
	for k := range maps.Keys(p.want) {
		keys = append(keys, k)
	}
	values, found, err := p.m.FindAll(ctx, append(keys, "no key"))
	if err != nil {
		return err
	}
	for i, k := range keys {
		if !found[i] || values[i] != p.want[k] {
			return fmt.Errorf("FindAll: %.20q, %t; want %.20q", values[i], found[i], p.want[k])
		}
	}
	total, err := pgas.SumValue(ctx, w.Team(), len(p.want))
	if err != nil {
		return err
	}
	all := maps.Collect(p.m.All())
	if n, err := p.m.Len(ctx); err != nil || n != total || len(all) != total || found[len(keys)] {
		return fmt.Errorf("Len %d, All meets %d, want %d: %w", n, len(all), total, err)
	}
	for k, v := range p.want {
		if all[k] != v {
			return fmt.Errorf("All: %.20q, want %.20q", all[k], v)
		}
	}
	return w.Barrier(ctx)
}

// TestTextMapReplaced: members replace and delete the values of the same few keys and find them meanwhile. No value is
// of two.
func TestTextMapReplaced(t *testing.T) {
	const rounds = 15
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewTextMap(ctx, w, containers.Capacity(10), containers.TextBytes(1))
		if err != nil {
			return err
		}
		long := strings.Repeat("x", 200)
		for round := range rounds {
			k := fmt.Sprint((round + w.PE()) % 4)
			if round%7 == 6 {
				_, err = m.Delete(ctx, k)
			} else {
				err = m.Set(ctx, k, strings.ReplaceAll(long, "x", string(rune('a'+(round+w.PE())%20))))
			}
			if err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
			for k, v := range m.All() {
				if len(v) != len(long) || strings.Count(v, v[:1]) != len(v) {
					return fmt.Errorf("All meets a value of two at %q: %d bytes, %.20q", k, len(v), v)
				}
			}
			if v, ok := m.Find("1"); ok && (len(v) != len(long) || strings.Count(v, v[:1]) != len(v)) {
				return fmt.Errorf("Find: a value of two: %d bytes, %.20q", len(v), v)
			}
		}
		return m.Free(ctx)
	})
}

// TestTextMapMemory: a value that is written again and again takes the memory of one, and one that does not fit is an
// error that leaves the map as it was.
func TestTextMapMemory(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewTextMap(ctx, w, containers.Capacity(10), containers.TextBytes(1))
		if err != nil || w.PE() != 0 {
			return errors.Join(err, w.Barrier(ctx))
		}
		value := strings.Repeat("v", 30_000)
		for i := range 40 { // 1.2 MB; there is room for 0.3 MB, and what chance gives
			if err := m.Set(ctx, "k", value[i:]); err != nil {
				return fmt.Errorf("round %d: %w", i, err)
			}
		}
		var full *containers.MapFullError
		for range 3 {
			if err := m.Set(ctx, "k", strings.Repeat("w", 10_000_000)); !errors.As(err, &full) {
				return fmt.Errorf("10 MB: %w", err)
			}
			if v, ok := m.Find("k"); !ok || v != value[39:] {
				return fmt.Errorf("after it the value has %d bytes, %t", len(v), ok)
			}
		}
		if err := m.Set(ctx, "k", value); err != nil {
			return fmt.Errorf("what did not fit takes memory: %w", err)
		}
		return w.Barrier(ctx)
	})
}

// TestTextMapMisuse: calls that cannot be right panic with one clear line.
func TestTextMapMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewTextMap(ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		still, err := containers.NewTextMap(ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		if err := still.OnlyFinds(ctx); err != nil {
			return err
		}
		var none *containers.TextMap
		var zero containers.TextMap
		var nilctx context.Context
		return misuses(t, map[string]func(){
			"no bytes":          func() { containers.NewTextMap(ctx, w, containers.TextBytes(0)) },
			"foreign option":    func() { containers.NewMap[int, int](ctx, w, containers.TextBytes(9)) },
			"Find of nil":       func() { none.Find("") },
			"Set of zero":       func() { zero.Set(ctx, "", "") },
			"Set, no context":   func() { m.Set(nilctx, "a", "") },
			"Delete, no ctx":    func() { m.Delete(nilctx, "a") },
			"SetAll of nothing": func() { m.SetAll(ctx, nil) },
			"Set when still":    func() { still.Set(ctx, "a", "") },
			"Insert when still": func() { still.Insert(ctx, "a", "") },
			"Delete when still": func() { still.Delete(ctx, "a") },
			"All of nil":        func() { none.All() },
			"Free of nil":       func() { none.Free(ctx) },
		})
	})
}
