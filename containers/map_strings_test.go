package containers_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// mapStrings are keys around every length that matters.
func mapStrings() (keys []string) {
	for _, n := range []int{0, 1, 30, 31, 32, 33, 63, 64, 65, 128, 129, 1000} {
		for _, last := range []string{"a", "b", "\x00"} {
			keys = append(keys, strings.Repeat("x", n)+last)
		}
	}
	return append(keys, "", strings.Repeat("\xff", 31), strings.Repeat("\xff", 32))
}

// TestStringMap: members update, delete and find the same strings, one by one and together.
func TestStringMap(t *testing.T) {
	seed := mapSeed(t)
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewStringMap[int64](ctx, w, containers.Capacity(100))
		if err != nil {
			return err
		}
		add := func(old, v int64) int64 { return old + v }
		want, mine := map[string]int64{}, map[string]int64{}
		for pe := range w.NPEs() {
			rnd := rand.New(rand.NewPCG(seed, uint64(pe)))
			for _, k := range mapStrings() {
				if rnd.IntN(3) == 0 {
					continue
				}
				v := int64(rnd.IntN(100))
				want[k] += 2 * v
				if pe != w.PE() {
					continue
				}
				mine[k] = v
				if err := m.Update(ctx, k, v, add); err != nil {
					return err
				}
			}
		}
		if err := m.UpdateAll(ctx, maps.All(mine), add); err != nil {
			return err
		}
		values, found, err := m.FindAll(ctx, mapStrings())
		if err != nil {
			return err
		}
		for i, k := range mapStrings() {
			v, ok := m.Find(k)
			if _, is := want[k]; ok != is || v != want[k] || found[i] != is || values[i] != v {
				return fmt.Errorf("%d bytes: Find %d, %t; FindAll %d, %t; want %d, %t", len(k), v, ok, values[i], found[i], want[k], is)
			}
		}
		if got := maps.Collect(m.All()); !maps.Equal(got, want) {
			return fmt.Errorf("All: %d elements, want %d", len(got), len(want))
		}
		if n, err := m.Len(ctx); err != nil || n != len(want) {
			return fmt.Errorf("Len %d, %v", n, err)
		}
		return m.Free(ctx)
	})
}
