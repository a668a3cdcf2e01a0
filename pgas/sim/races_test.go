package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// flagged is a put and a flag for it, with or without a fence between them. The target looks at the data.
func flagged(fence bool) sim.Body {
	return func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		data, flag := words.At(0), pgas.AtomicOf(words, 1)
		if w.PE() == 0 {
			data.Put(1, 7)
			if fence {
				w.Fence()
			}
			flag.Set(1, 1)
			return w.Quiet(ctx)
		}
		if _, err := flag.WaitUntil(ctx, pgas.EQ, 1); err != nil {
			return err
		}
		data.Get(1)
		return nil
	}
}

// TestRaces: a missing fence fails the run although nothing goes wrong in it, with both lines, and the same seed fails
// in the same way. With the fence nothing is reported.
func TestRaces(t *testing.T) {
	for seed := range uint64(10) {
		cfg := sim.Config{Adversary: seed > 0, Seed: seed, Races: true}
		var texts [2]string
		for i := range texts {
			_, err := sim.Run(t.Context(), cfg, 2, flagged(false))
			var failure *sim.Failure
			if !errors.As(err, &failure) {
				t.Fatalf("seed %d: a missing fence gives %v", seed, err)
			}
			texts[i] = err.Error()
		}
		if texts[0] != texts[1] {
			t.Errorf("seed %d: two runs differ:\n%s\n%s", seed, texts[0], texts[1])
		}
		for _, want := range []string{"race on int64[0]", "Ref.Put of PE 0 at sim/races_test.go:", "Ref.Get of PE 1 at sim/races_test.go:", "a Fence"} {
			if !strings.Contains(texts[0], want) {
				t.Errorf("seed %d: %q is missing in:\n%s", seed, want, texts[0])
			}
		}
		if _, err := sim.Run(t.Context(), cfg, 2, flagged(true)); err != nil {
			t.Errorf("seed %d: with a fence: %v", seed, err)
		}
	}
}

// endsLater is a context that has ended when it is asked for the second time.
type endsLater struct {
	context.Context
	asked int
}

func (c *endsLater) Err() error {
	if c.asked++; c.asked > 1 {
		return context.Canceled
	}
	return nil
}

// TestRacesQuietLocal: a QuietLocal tells that the sources have been read only if it succeeds.
func TestRacesQuietLocal(t *testing.T) {
	for _, fails := range []bool{true, false} {
		cfg := sim.Config{Adversary: true, Seed: 1, Races: true}
		_, err := sim.Run(t.Context(), cfg, 2, func(ctx context.Context, w *pgas.World) error {
			words, err := pgas.Alloc[int64](ctx, w, 100)
			if err != nil || w.PE() != 0 {
				return err
			}
			src := make([]int64, 50)
			words.Range(0, 50).PutNB(1, src)
			over := ctx
			if fails {
				over = &endsLater{Context: context.Background()}
			}
			if err := w.Context().QuietLocal(over); (err != nil) != fails {
				return fmt.Errorf("QuietLocal: %v", err)
			}
			words.Range(50, 100).Get(1, src)
			return w.Quiet(ctx)
		})
		failure, ok := errors.AsType[*sim.Failure](err)
		if ok != fails || ok && !strings.Contains(failure.Error(), "race on") {
			t.Errorf("fails: %t: %v", fails, err)
		}
	}
}
