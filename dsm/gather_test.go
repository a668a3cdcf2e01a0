package dsm_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestAllNotices: the limit of notices is that of one PE with AllNotices, and that of a message otherwise. All PEs read
// what each has written. The reads take one message each if no notice has been left out.
func TestAllNotices(t *testing.T) {
	const npes, own, rounds = 4, 8, 4
	var slow atomic.Uint64
	program := func(o opened) func(context.Context, *pgas.World) error {
		return func(ctx context.Context, w *pgas.World) error {
			o.Bytes, o.Block, o.Mode = npes*own*8, 8, dsm.Soft
			r, err := o.open(ctx, w)
			if err != nil {
				return err
			}
			a, err := dsm.Alloc[byte](ctx, r, npes*own*8)
			if err != nil {
				return err
			}
			for round := range rounds {
				for b := range own {
					a.Set(8*(w.PE()*own+b), byte(1+round))
				}
				if err := r.Barrier(ctx); err != nil {
					return err
				}
				for b, all := 0, a.View(0, a.Len()); b < npes*own; b++ {
					if all[8*b] != byte(1+round) {
						return fmt.Errorf("PE %d, round %d: block %d has %d", w.PE(), round, b, all[8*b])
					}
				}
				if err := r.Barrier(ctx); err != nil {
					return err
				}
			}
			slow.Add(r.Stats().SlowReads)
			return nil
		}
	}
	for _, c := range []struct {
		notices    int
		all, leave bool // leave: notices are left out, so that leases end
	}{{own, true, false}, {own - 1, true, true}, {own, false, true}, {2 * own, false, false}} {
		slow.Store(0)
		body := program(opened{dsm.Options{Notices: c.notices}, protocols.Choice{AllNotices: c.all}})
		if _, err := sim.Run(t.Context(), sim.Config{HeapMax: 1 << 20}, npes, body); err != nil {
			t.Fatal(err)
		}
		if left := slow.Load() > 0; left != c.leave {
			t.Errorf("%+v: %d reads took more than one message", c, slow.Load())
		}
	}
}
