package pgastest

// PEs in the simulator: first on a machine of hosts with two PEs each, and then with an adversary that lets
// every step take any time and unordered operations take effect in any order. That finds missing fences and
// lost wake-ups that no real machine shows for years, and the same ones in every run.

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/sim"
)

// adversaries is the number of seeds that a body is run with, unless envAdversaries names some.
const adversaries = 10

// envAdversaries is the variable with the seeds of a run, such as 3,4,5.
const envAdversaries = "TEST_ADVERSARIES"

// seeds returns the seeds that text, the value of envAdversaries, names, or all if it is empty.
func seeds(text string) (found []uint64, err error) {
	if text == "" {
		for seed := range uint64(adversaries) {
			found = append(found, seed)
		}
		return found, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s=%s names no seeds: give it numbers separated by commas, or unset it", envAdversaries, text)
		}
		found = append(found, seed)
	}
	return found, nil
}

// RunAll does what Run and RunSim do. Its failure says with which kinds of PEs, and with which seeds, the body fails,
// and the command that runs the first of them alone.
func RunAll(tb testing.TB, npes int, body Body) {
	tb.Helper()
	report(tb, append(runKinds(tb, npes, body), runSim(tb, npes, body)...))
}

// RunSim runs body on npes PEs in the simulator, as the subtests sim/machine and sim/seed=0, sim/seed=1, … up to
// sim/seed=9, or with the seeds that TEST_ADVERSARIES names (3,4,5). body must be one that the simulator can run: it
// starts no goroutine but by World.Go, and waits only through its World. It should use the clock of its World.
func RunSim(tb testing.TB, npes int, body Body) {
	tb.Helper()
	runSim(tb, npes, body)
}

func runSim(tb testing.TB, npes int, body Body) []outcome {
	tb.Helper()
	if isPE() {
		return nil
	}
	return runGroup(tb, "sim", func(tb testing.TB) (outcomes []outcome) {
		goroutinesOnly(tb)
		run := func(name string, cfg sim.Config) {
			outcomes = append(outcomes, subtest(tb, name, func(tb testing.TB) {
				ctx, cancel := hang.Context(tb.Context())
				defer cancel()
				cfg.HeapMax, cfg.Check, cfg.Races, cfg.Stats = heapMax, checks(tb), wantsRaces(), counts()
				if _, err := sim.Run(ctx, cfg, npes, body); err != nil {
					fail(tb, err)
				}
			}))
		}
		run("machine", sim.Config{Topology: "host:2"})
		chosen, err := seeds(os.Getenv(envAdversaries))
		if err != nil {
			tb.Fatal(err)
		}
		for _, seed := range chosen {
			run(fmt.Sprintf("seed=%d", seed), sim.Config{Adversary: true, Seed: seed})
		}
		return outcomes
	})
}
