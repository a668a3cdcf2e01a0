package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestEveryDeathIsAnnounced has PEs die while they join and meet. A PE may handle the event of its own death: the
// others are told all the same.
func TestEveryDeathIsAnnounced(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		for range 10 {
			if err := w.Barrier(ctx); err != nil {
				return nil
			}
		}
		return nil
	}
	for seed := range uint64(1500) {
		npes := 2 + int(seed%3)
		victim := int(seed/3) % npes
		cfg := sim.Config{
			Seed: seed, Adversary: seed%4 > 0, HeapMax: 4 << 20, MaxEvents: 1_000_000,
			Deaths:    []sim.Death{{PE: victim, At: time.Duration(seed * 7919 % 60_000)}},
			Detection: time.Duration(seed * 104_729 % 1_000_000),
		}
		_, err := sim.Run(t.Context(), cfg, npes, body)
		var peer *pgas.PeerError
		if err != nil && !(errors.As(err, &peer) && peer.PE == victim) { // PEs that join end with that error
			t.Fatalf("PE %d of %d dies after %v: %v", victim, npes, cfg.Deaths[0].At, err)
		}
	}
}
