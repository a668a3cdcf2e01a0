package containers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestMapTorn: a member that meets a slot that is being written takes it for what it is, and reads it again until it is
// whole.
func TestMapTorn(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, wideValue](ctx, w, containers.Capacity(100))
		if err != nil {
			return err
		}
		for k := range 30 {
			if err := m.Set(ctx, k, wideValueOf(int64(k))); err != nil {
				return err
			}
		}
		time.AfterFunc(10*time.Millisecond, m.Tear(7))
		if v, ok := m.Find(7); !ok || v != wideValueOf(7) {
			return fmt.Errorf("Find: %+v, %t", v, ok)
		}
		time.AfterFunc(10*time.Millisecond, m.Tear(9))
		for k, v := range m.All() {
			if v != wideValueOf(int64(k)) {
				return fmt.Errorf("All: %d: %+v", k, v)
			}
		}
		return nil
	})
}
