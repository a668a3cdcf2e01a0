package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestSent: what goes to another host counts, with its reply; what stays on the host does not.
func TestSent(t *testing.T) {
	const hosts = "socket:2,host:1" // two PEs on each
	for _, c := range []struct {
		name  string
		to    int
		op    func(words pgas.Sym[int64], pe int)
		bytes uint64
	}{
		{"put", 2, func(words pgas.Sym[int64], pe int) { words.Range(0, 100).Put(pe, make([]int64, 100)) }, 800},
		{"get", 2, func(words pgas.Sym[int64], pe int) { words.Range(0, 100).Get(pe, make([]int64, 100)) }, 800},
		{"atomic", 2, func(words pgas.Sym[int64], pe int) { pgas.AtomicOf(words, 0).FetchAdd(pe, 1) }, 16},
		{"put on the host", 1, func(words pgas.Sym[int64], pe int) { words.Range(0, 100).Put(pe, make([]int64, 100)) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sim.Run(t.Context(), sim.Config{Topology: hosts}, 4, func(ctx context.Context, w *pgas.World) error {
				words, err := pgas.Alloc[int64](ctx, w, 100)
				if err != nil {
					return err
				}
				if err := w.Barrier(ctx); err != nil || w.PE() != 0 {
					return err
				}
				if err := w.Sleep(ctx, 1e6); err != nil { // what the barrier sends arrives
					return err
				}
				before, err := sim.Sent(ctx)
				if err != nil {
					return err
				}
				c.op(words, c.to)
				if err := w.Quiet(ctx); err != nil {
					return err
				}
				after, err := sim.Sent(ctx)
				if got := after.Bytes - before.Bytes; got != c.bytes || (after.Messages > before.Messages) != (c.bytes > 0) {
					return fmt.Errorf("%d bytes and %d messages, want %d bytes", got, after.Messages-before.Messages, c.bytes)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := sim.Sent(t.Context()); err == nil || !strings.Contains(err.Error(), "not that of a simulated PE") {
		t.Errorf("got %v", err)
	}
}
