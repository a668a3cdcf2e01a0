package main

// The hand-over, by the way that the variable WHY names, and without it by the right one.

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// chosen returns the body of a test.
func chosen(t *testing.T) pgastest.Body {
	t.Helper()
	how, ok := map[string]handOver{"": inOrder, "hastily": hastily, "unfenced": unfenced}[os.Getenv("WHY")]
	if !ok {
		t.Fatalf("WHY=%s: there are hastily and unfenced", os.Getenv("WHY"))
	}
	return func(ctx context.Context, w *pgas.World) error {
		sum, err := run(ctx, w, how)
		if err == nil && w.PE() == w.NPEs()-1 && sum != 10 {
			err = fmt.Errorf("the sum is %d, want 10", sum)
		}
		return err
	}
}

func TestHandOver(t *testing.T) { pgastest.RunGoroutines(t, 2, chosen(t)) }

// TestSimulated has a hundred adversaries delay what no fence orders, or, with the variable SEED, one.
func TestSimulated(t *testing.T) {
	cfg := sim.Config{Adversary: true, Seed: 1}
	if seed := os.Getenv("SEED"); seed != "" {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Seed = n
		if _, err := sim.Run(t.Context(), cfg, 2, chosen(t)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := sim.Seeds(t.Context(), cfg, 2, 100, chosen(t)); err != nil {
		t.Fatal(err)
	}
}
