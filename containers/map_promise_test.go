package containers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestMapOnlyInserts: phases of inserts alone and of finds alone, one after the other, against one Go map that every
// member keeps. Rings are small and the map begins empty, so members wait for each other and segments are split
// meanwhile.
func TestMapOnlyInserts(t *testing.T) {
	seed := mapSeed(t)
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(3000), containers.Ring(512))
		if err != nil {
			return err
		}
		want := map[int]int64{}
		for round := range 4 {
			if err := m.OnlyInserts(ctx); err != nil {
				return err
			}
			for k, v := range mapRound(seed, round, w.PE()) {
				key := k*w.NPEs() + w.PE()
				for n := range 3 { // the first one counts
					if inserted, err := m.Insert(ctx, key, v+int64(n)); inserted || err != nil {
						return fmt.Errorf("Insert, whose answer nobody waits for: %t, %w", inserted, err)
					}
				}
			}
			for pe := range w.NPEs() {
				for k, v := range mapRound(seed, round, pe) {
					if _, is := want[k*w.NPEs()+pe]; !is {
						want[k*w.NPEs()+pe] = v
					}
				}
			}
			if err := endInserts(ctx, m, round); err != nil {
				return err
			}
			if got := maps.Collect(m.All()); !maps.Equal(got, want) {
				return fmt.Errorf("PE %d, round %d: %d elements, want %d", w.PE(), round, len(got), len(want))
			}
			if n, err := m.Len(ctx); err != nil || n != len(want) {
				return fmt.Errorf("Len %d, %v; want %d", n, err, len(want))
			}
		}
		return m.Free(ctx)
	})
}

// endInserts ends OnlyInserts in each way that there is.
func endInserts(ctx context.Context, m *containers.Map[int, int64], round int) error {
	switch round % 3 {
	case 0:
		return m.Writes(ctx)
	case 1:
		return m.OnlyFinds(ctx)
	}
	return errors.Join(m.OnlyInserts(ctx), m.OnlyFinds(ctx), m.Writes(ctx))
}

// TestStringMapOnlyInserts: keys of every length, of which each member has its own and some that all have. A member
// that waits for room for a key receives the bytes of keys, and the other way round: rings are the smallest, and no two
// members send the same first.
func TestStringMapOnlyInserts(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewStringMap[int64](ctx, w, containers.Capacity(2000), containers.Ring(1))
		if err != nil {
			return err
		}
		want := map[string]int64{}
		for pe := range w.NPEs() {
			for i := range 50 {
				want[fmt.Sprint(pe, strings.Repeat("k", (i*(pe+1)*7)%150), i)] = int64(pe)
			}
			for _, k := range mapStrings() {
				want[k] = 9
			}
		}
		if err := m.OnlyInserts(ctx); err != nil {
			return err
		}
		for k, v := range want {
			if v != 9 && v != int64(w.PE()) {
				continue
			}
			if _, err := m.Insert(ctx, k, v); err != nil {
				return err
			}
		}
		if err := m.OnlyFinds(ctx); err != nil {
			return err
		}
		for k, v := range want {
			if got, ok := m.Find(k); !ok || got != v {
				return fmt.Errorf("a key of %d bytes: %d, %t; want %d", len(k), got, ok, v)
			}
		}
		if err := m.Writes(ctx); err != nil {
			return err
		}
		if got := maps.Collect(m.All()); !maps.Equal(got, want) {
			return fmt.Errorf("All: %d elements, want %d", len(got), len(want))
		}
		return m.Free(ctx)
	})
}

// TestMapOnlyInsertsFull: all members learn at the end that elements found no room, and the map goes on.
func TestMapOnlyInsertsFull(t *testing.T) {
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewStringMap[int64](ctx, w, containers.Capacity(10))
		if err != nil {
			return err
		}
		var full *containers.MapFullError
		for _, k := range []string{"%d", strings.Repeat("long", 1000) + "%d"} {
			if err := m.OnlyInserts(ctx); err != nil {
				return err
			}
			for i := range 300 {
				if _, err := m.Insert(ctx, fmt.Sprintf(k, i*w.NPEs()+w.PE()), 1); err != nil {
					return err
				}
			}
			if err := m.OnlyFinds(ctx); !errors.As(err, &full) {
				return fmt.Errorf("too many keys of %d bytes ended with %v", len(k), err)
			}
			if err := m.Set(ctx, "a", 2); err != nil && !errors.As(err, &full) { // no promise holds
				return err
			}
			for k := range m.All() {
				if len(k) > 100 && !strings.HasPrefix(k, "longlong") {
					return fmt.Errorf("All meets the key %q", k)
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return m.Free(ctx)
	})
}

// TestMapOnlyInsertsLate: an Insert whose context has ended is done all the same.
func TestMapOnlyInsertsLate(t *testing.T) {
	_, err := sim.Run(t.Context(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(5000), containers.Ring(1))
		if err != nil {
			return err
		}
		if err := m.OnlyInserts(ctx); err != nil {
			return err
		}
		inserted := 0
		for w.PE() == 0 && err == nil {
			short, cancel := w.WithTimeout(ctx, 50*time.Microsecond)
			_, err = m.Insert(short, inserted, 1)
			cancel()
			inserted++
		}
		if w.PE() == 0 && !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("nobody receives, and after %d elements Insert returns %w", inserted, err)
		}
		if w.PE() == 1 {
			if err := w.Sleep(ctx, 100*time.Millisecond); err != nil {
				return err
			}
		}
		if err := m.Writes(ctx); err != nil {
			return err
		}
		if n, err := m.Len(ctx); err != nil || w.PE() == 0 && n != inserted {
			return fmt.Errorf("%d of %d elements are there: %v", n, inserted, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestMapOnlyInsertsDeaths: whenever a member dies, the others end with its *pgas.PeerError.
func TestMapOnlyInsertsDeaths(t *testing.T) {
	for at := range 12 {
		cfg := sim.Config{Deaths: []sim.Death{{PE: 1, At: time.Duration(40+50*at) * time.Microsecond}}}
		ended := 0
		_, err := sim.Run(t.Context(), cfg, 3, func(ctx context.Context, w *pgas.World) error {
			if err := insertsFor(ctx, w); !isAbout(err, 1) {
				return fmt.Errorf("PE 1 is dead, and the inserts ended with %w", err)
			}
			ended++
			return nil
		})
		if err != nil || ended != 2 {
			t.Errorf("death at %v: %d members have ended: %v", cfg.Deaths[0].At, ended, err)
		}
	}
}

// insertsFor makes and ends promises, until an error.
func insertsFor(ctx context.Context, w *pgas.World) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = w.Recovered(p); err == nil {
				panic(p)
			}
		}
	}()
	m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(20000), containers.Ring(1))
	for i := 0; err == nil; i++ {
		if i%100 == 0 {
			err = m.OnlyInserts(ctx)
		}
		if err == nil {
			_, err = m.Insert(ctx, i*w.NPEs()+w.PE(), 1)
		}
	}
	return err
}

// TestMapOnlyInsertsMessages: what a promise of inserts saves between two hosts. The numbers are those of
// docs/packages/containers.md.
func TestMapOnlyInsertsMessages(t *testing.T) {
	const elements = 4000
	sent := map[bool]sim.Traffic{}
	for _, promise := range []bool{false, true} {
		_, err := sim.Run(t.Context(), sim.Config{Topology: "host:1"}, 2, func(ctx context.Context, w *pgas.World) error {
			m, err := containers.NewMap[int, int64](ctx, w, containers.Capacity(elements))
			if err != nil {
				return err
			}
			before, err := sim.Sent(ctx)
			if err != nil {
				return err
			}
			if promise {
				err = m.OnlyInserts(ctx)
			}
			for k := w.PE(); k < elements && err == nil; k += w.NPEs() {
				_, err = m.Insert(ctx, k, 1)
			}
			if err = errors.Join(err, m.Writes(ctx)); err != nil {
				return err
			}
			if n, err := m.Len(ctx); err != nil || n != elements {
				return fmt.Errorf("%d of %d elements are there: %v", n, elements, err)
			}
			after, err := sim.Sent(ctx)
			sent[promise] = sim.Traffic{Messages: after.Messages - before.Messages, Bytes: after.Bytes - before.Bytes}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d elements: %+v, with OnlyInserts %+v", elements, sent[false], sent[true])
	if remote := uint64(elements / 2); sent[false].Messages < 5*remote || sent[true].Messages > remote/20 || sent[true].Bytes > 30*remote {
		t.Errorf("%d elements for another host: %+v, with OnlyInserts %+v", remote, sent[false], sent[true])
	}
}
