package containers_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestMapSaved: a map is restored on other numbers of PEs, with all of its elements and no others.
func TestMapSaved(t *testing.T) {
	const elements = 3000
	store := ckpt.Dir(t.TempDir())
	for i, pes := range []int{3, 1, 4, 2} {
		err := pgastest.Goroutines(t.Context(), pes, pgastest.Options{Check: true}, func(ctx context.Context, w *pgas.World) error {
			m, err := containers.NewMap[int32, [3]int64](ctx, w, containers.Capacity(2*elements))
			if err != nil {
				return err
			}
			set := ckpt.New(w, ckpt.In(store))
			set.Add("m", m)
			if _, _, err := set.Restore(ctx); err != nil {
				return err
			}
			n, err := m.Len(ctx)
			if err != nil || n != i*elements/4 {
				return fmt.Errorf("%d elements, %v", n, err)
			}
			lo, hi := w.Team().Share(elements / 4)
			for k := lo; k < hi; k++ {
				for had := range i {
					key := int32(had*elements/4 + k)
					if v, ok := m.Find(key); !ok || v[1] != int64(7*key) {
						return fmt.Errorf("key %d is %v, %t", key, v, ok)
					}
				}
				key := int32(i*elements/4 + k)
				if err := m.Set(ctx, key, [3]int64{1, int64(7 * key), 3}); err != nil {
					return err
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			return set.Save(ctx)
		})
		if err != nil {
			t.Fatalf("%d PEs: %v", pes, err)
		}
	}
}
