package pgastest

// PEs in the simulator: first on a machine of hosts with two PEs each, and then with an adversary that lets
// every step take any time and unordered operations take effect in any order. That finds missing fences and
// lost wake-ups that no real machine shows for years, and the same ones in every run.

import (
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/sim"
)

// adversaries is the number of seeds of the adversary that a body is run with.
const adversaries = 10

// RunAll does what Run and RunSim do. Its failure says with which kinds of PEs, and with which seeds, the body fails,
// and the command that runs the first of them alone.
func RunAll(tb testing.TB, npes int, body Body) {
	tb.Helper()
	report(tb, append(runKinds(tb, npes, body), runSim(tb, npes, body)...))
}

// RunSim runs body on npes PEs in the simulator, as the subtests sim/machine and sim/seed=0, sim/seed=1, ….
// body must be one that the simulator can run: it starts no goroutine but by World.Go, and waits only through
// its World. It should use the clock of its World.
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
				cfg.HeapMax, cfg.Check, cfg.Stats = heapMax, checks(tb), counts()
				if _, err := sim.Run(ctx, cfg, npes, body); err != nil {
					fail(tb, err)
				}
			}))
		}
		run("machine", sim.Config{Topology: "host:2"})
		for seed := range uint64(adversaries) {
			run(fmt.Sprintf("seed=%d", seed), sim.Config{Adversary: true, Seed: seed})
		}
		return outcomes
	})
}
