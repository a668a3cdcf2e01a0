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

// RunAll does what Run and RunSim do.
func RunAll(t *testing.T, npes int, body Body) {
	t.Helper()
	Run(t, npes, body)
	RunSim(t, npes, body)
}

// RunSim runs body on npes PEs in the simulator, as the subtests sim/machine and sim/seed=0, sim/seed=1, ….
// body must be one that the simulator can run: it starts no goroutine but by World.Go, and waits only through
// its World. It should use the clock of its World.
func RunSim(t *testing.T, npes int, body Body) {
	t.Helper()
	if isPE() {
		return
	}
	t.Run("sim", func(t *testing.T) {
		goroutinesOnly(t)
		run := func(name string, cfg sim.Config) {
			t.Run(name, func(t *testing.T) {
				ctx, cancel := hang.Context(t.Context())
				defer cancel()
				cfg.HeapMax, cfg.Check, cfg.Stats = heapMax, checks(), counts()
				if _, err := sim.Run(ctx, cfg, npes, body); err != nil {
					t.Fatalf("%v\nreplay with: go test -run '^%s$'", err, t.Name())
				}
			})
		}
		run("machine", sim.Config{Topology: "host:2"})
		for seed := range uint64(adversaries) {
			run(fmt.Sprintf("seed=%d", seed), sim.Config{Adversary: true, Seed: seed})
		}
	})
}
