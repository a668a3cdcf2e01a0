package pgas_test

// What gathers cost between hosts, by the kernel's count of what has arrived.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// receivedBytes returns how many bytes have arrived on the interfaces of this host.
func receivedBytes() (sum uint64, err error) {
	text, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, counts, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "lo" {
			continue
		}
		var n uint64
		if _, err := fmt.Sscan(counts, &n); err != nil {
			return 0, fmt.Errorf("%q: %w", line, err)
		}
		sum += n
	}
	return sum, nil
}

// TestAllGatherWire: what the PEs of one host give arrives once on the other, not once for each PE of that; and of a
// few numbers little more than these.
func TestAllGatherWire(t *testing.T) {
	const npes, hosts = 8, 2
	for name, c := range map[string]struct {
		calls, each int    // of each PE
		most        uint64 // bytes that may arrive on a host for one call
	}{
		"large": {2, 300_000, npes / hosts * 300_000 * 3 / 2},
		"small": {20, 8, 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			pgastest.RunHosts(t, npes, hosts, func(ctx context.Context, w *pgas.World) error {
				mine := make([]byte, c.each)
				if _, err := pgas.AllGather(ctx, w.Team(), mine); err != nil { // connects
					return err
				}
				err1 := w.Barrier(ctx)
				before, err2 := receivedBytes()
				err3 := w.Barrier(ctx)
				for range c.calls {
					if _, err := pgas.AllGather(ctx, w.Team(), mine); err != nil {
						return err
					}
				}
				err4 := w.Barrier(ctx)
				after, err5 := receivedBytes()
				if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
					return err
				}
				got := (after - before) / uint64(c.calls)
				if got > c.most {
					return fmt.Errorf("%d bytes have arrived on the host for a call in which each PE gives %d, want %d at most", got, c.each, c.most)
				}
				return nil
			})
		})
	}
}

// BenchmarkAllGather: what each of four PEs gives to all, on one host and on two.
func BenchmarkAllGather(b *testing.B) {
	for _, bytes := range []int{8, 64 << 10} {
		b.Run(fmt.Sprint(bytes), func(b *testing.B) {
			body := func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
				mine := make([]byte, bytes)
				b.SetBytes(int64(bytes * w.NPEs()))
				for b.Loop() {
					if _, err := pgas.AllGather(ctx, w.Team(), mine); err != nil {
						return err
					}
				}
				return nil
			}
			pgastest.BenchProcesses(b, 4, body)
			pgastest.BenchHosts(b, 4, 2, body)
		})
	}
}
