package sim_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestDeathAfterEvents has PE 1 die after each number of events. What happens before is what happens without a death.
func TestDeathAfterEvents(t *testing.T) {
	run := func(cfg sim.Config) (sim.Report, string, error) {
		var trace strings.Builder
		cfg.Adversary, cfg.HeapMax, cfg.MaxEvents, cfg.Trace = true, 4<<20, 1_000_000, &trace
		report, err := sim.Run(t.Context(), cfg, 3, func(ctx context.Context, w *pgas.World) error {
			for range 3 {
				if err := w.Barrier(ctx); err != nil {
					return nil
				}
			}
			return nil
		})
		return report, trace.String(), err
	}
	undisturbed, all, err := run(sim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	died, before := 0, 0
	for n := range undisturbed.Events {
		_, trace, err := run(sim.Config{Deaths: []sim.Death{{PE: 1, After: n + 1}}})
		if peer, ok := errors.AsType[*pgas.PeerError](err); err != nil && (!ok || peer.PE != 1) {
			t.Fatalf("PE 1 dies after event %d: %v", n+1, err)
		}
		until, _, ok := strings.Cut(trace, "dies")
		if !ok {
			continue // it had ended
		}
		died++
		until = until[:strings.LastIndexByte(until, '\n')+1]
		if !strings.HasPrefix(all, until) || len(until) < before {
			t.Fatalf("PE 1 dies after event %d, and before are\n%s\nand not those of\n%s", n+1, until, all)
		}
		before = len(until)
	}
	if died == 0 || before == 0 {
		t.Errorf("it has died %d times, the last time after %d bytes of steps", died, before)
	}
}
