package locks_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestTune: every PE gets the same proposal, and it is one that has been tried.
func TestTune(t *testing.T) {
	proposals := make([]locks.Tuning, 8)
	_, err := sim.Run(t.Context(), sim.Config{Topology: "host:4"}, len(proposals), func(ctx context.Context, w *pgas.World) error {
		var err error
		proposals[w.PE()], err = locks.Tune(ctx, w, locks.TuneOptions{Rounds: 20, Writers: 0.2})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	first := proposals[0]
	for pe, p := range proposals {
		if !reflect.DeepEqual(p, first) {
			t.Fatalf("PE %d is told %+v, PE 0 %+v", pe, p, first)
		}
	}
	o := first.RMARW
	chosen := fmt.Sprintf("T_DC=%d T_L=%v T_R=%d", o.TDC, o.TL, o.TR)
	if !slices.ContainsFunc(first.Trials, func(t locks.Trial) bool { return t.What == chosen && t.Rate > 0 }) {
		t.Fatalf("%s is proposed, and has not been tried: %+v", chosen, first.Trials)
	}
	if first.ALock.RemoteBudget == 0 || first.ALock.LocalBudget == 0 {
		t.Fatalf("no budgets: %+v", first.ALock)
	}
	for _, trial := range first.Trials {
		t.Logf("%-45s %.0f/s", trial.What, trial.Rate)
	}
}
