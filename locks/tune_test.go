package locks_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
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
	if err := sensible(first); err != nil {
		t.Fatal(err)
	}
	for _, trial := range first.Trials {
		t.Logf("%-45s %.0f/s", trial.What, trial.Rate)
	}
}

// sensible reports what is wrong with a proposal: it has been tried, and nothing of it is left open.
func sensible(u locks.Tuning) error {
	o := u.RMARW
	chosen := fmt.Sprintf("T_DC=%d T_L=%v T_R=%d", o.TDC, o.TL, o.TR)
	if !slices.ContainsFunc(u.Trials, func(t locks.Trial) bool { return t.What == chosen && t.Rate > 0 }) {
		return fmt.Errorf("%s is proposed, and has not been tried: %+v", chosen, u.Trials)
	}
	if o.TW == 0 || u.ALock.RemoteBudget == 0 || u.ALock.LocalBudget == 0 {
		return fmt.Errorf("T_W or budgets are left open: %+v, %+v", o, u.ALock)
	}
	return nil
}

// TestTuneOnRealPEs: the same on processes and on two hosts, and twice: what is tried does not depend on how
// quick it was, up to the values that were best before. What is proposed, locks accept.
func TestTuneOnRealPEs(t *testing.T) {
	pgastest.RunProcesses(t, 4, tunesTwice)
	pgastest.RunHosts(t, 4, 2, tunesTwice)
}

func tunesTwice(ctx context.Context, w *pgas.World) error {
	var tried [2]int
	for i := range tried {
		u, err := locks.Tune(ctx, w, locks.TuneOptions{Rounds: 5})
		if err != nil {
			return err
		}
		if err := errors.Join(sensible(u), alikeEverywhere(ctx, w, fmt.Sprintf("%+v", u))); err != nil {
			return err
		}
		if _, err := locks.AllocRMARW(ctx, w, u.RMARW); err != nil {
			return fmt.Errorf("a lock as proposed: %w", err)
		}
		if _, err := locks.AllocALock(ctx, w, u.ALock); err != nil {
			return fmt.Errorf("a lock as proposed: %w", err)
		}
		tried[i] = len(u.Trials)
	}
	if tried[0] != tried[1] {
		return fmt.Errorf("%d trials, and then %d", tried[0], tried[1])
	}
	return nil
}

// alikeEverywhere fails if text is not the same on every PE.
func alikeEverywhere(ctx context.Context, w *pgas.World, text string) error {
	words, err := pgas.Alloc[uint64](ctx, w, 2)
	if err != nil {
		return err
	}
	sum := fnv.New64a()
	sum.Write([]byte(text))
	words.Local()[0] = sum.Sum64()
	if err := pgas.MaxReduce(ctx, w.Team(), words.Range(1, 2), words.Range(0, 1)); err != nil {
		return err
	}
	if words.Local()[0] != words.Local()[1] {
		return fmt.Errorf("PE %d has another result than some PE: %s", w.PE(), text)
	}
	return nil
}
