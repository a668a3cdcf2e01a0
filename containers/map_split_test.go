package containers_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestMapSplitAdversaries: a member that has learned elsewhere how deep a shard is goes straight to the segment that a
// split is making, while the member that splits updates the same key there.
func TestMapSplitAdversaries(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 15
	}
	if err := sim.Seeds(t.Context(), sim.Config{}, 3, seeds, meetAtSplit); err != nil {
		t.Fatal(err)
	}
}

// meetAtSplit makes the segments 0 of depth 1, which is full, and 1 and 3 of depth 2. An insert splits 0 into 0 and 2,
// whose keys all members update.
func meetAtSplit(ctx context.Context, w *pgas.World) error {
	m, err := containers.NewMap[int, mapPair](ctx, w, containers.Capacity(3000))
	if err != nil {
		return err
	}
	keys := map[int][]int{} // of member 0, by the low bits of their hashes
	for k := 0; len(keys[0]) < 26 || len(keys[1]) < 26 || len(keys[2]) < 26 || len(keys[3]) < 26; k++ {
		if m.Home(k) == 0 {
			keys[m.SegmentBits(k, 2)] = append(keys[m.SegmentBits(k, 2)], k)
		}
	}
	there := append(append(append([]int{}, keys[1][:26]...), keys[3][:26]...), append(keys[0][:24:24], keys[2][:24]...)...)
	if w.PE() == 0 {
		for _, k := range there {
			if err := m.Set(ctx, k, pairOf(1)); err != nil {
				return err
			}
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if err := splitAndUpdate(ctx, w, m, keys); err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	for i, k := range keys[2][:4] {
		if v, ok := m.Find(k); !ok || v != pairOf(int64(1+w.NPEs())) {
			return fmt.Errorf("key %d of the new segment has %+v, %t after an update of each member", i, v, ok)
		}
	}
	return w.Barrier(ctx)
}

// splitAndUpdate has PE 1 insert the key that splits segment 0, while the others, which have learned the depth at
// segment 1, update keys of segment 2, as PE 1 does then.
func splitAndUpdate(ctx context.Context, w *pgas.World, m *containers.Map[int, mapPair], keys map[int][]int) error {
	if w.PE() == 1 {
		if _, err := m.Insert(ctx, keys[0][25], pairOf(1)); err != nil {
			return err
		}
	} else if err := m.Update(ctx, keys[1][0], pairOf(1), addPairs); err != nil {
		return err
	}
	for _, k := range keys[2][:4] {
		if err := m.Update(ctx, k, pairOf(1), addPairs); err != nil {
			return err
		}
	}
	return nil
}
