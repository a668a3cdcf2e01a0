// Package pgastest runs the PEs of a test under plain go test: one body, on every kind of PE there is.
//
//	goroutines  in this process, over Go memory: `go test -race` sees conflicts between PEs, and missing fences
//	processes   the test binary, started again for each PE, over shared memory
//	hosts       the same on two hosts, which are network namespaces: UCX over TCP between them
//	sim         in virtual time, for bodies that it can run: RunSim, RunAll
//
// Bench measures a body on the first three, as a benchmark.
//
// PEs check every access to symmetric memory, as with PGAS_CHECK=1: use of freed memory fails the test. With
// PGAS_CHECK=0 in the environment, or among what a call adds to it, they take the fast path instead. With
// PGAS_CHECK=race they also look for races between PEs, which fail the test. With PGAS_STATS=1 in the environment of
// the test they count what they do, for World.Stats.
//
// The test binary is its own launcher. The processes of the PEs run the test function again up to the call of Run, so
// they must reach it in the same way as the process of go test.
//
//ci:below nocgo=whole
package pgastest

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/ucx"
)

// Body is what one PE of a test does. Its error fails the test.
type Body = func(ctx context.Context, w *pgas.World) error

// checks reports whether PEs check their accesses to symmetric memory: those of a test unless the environment has
// PGAS_CHECK=0, those of a benchmark if it has PGAS_CHECK=1.
func checks(tb testing.TB) bool {
	if isBenchmark(tb) {
		return os.Getenv(envCheck) == "1"
	}
	return os.Getenv(envCheck) != "0"
}

// counts reports whether PEs count what they do: if the environment has PGAS_STATS=1.
func counts() bool { return os.Getenv("PGAS_STATS") == "1" }

const envCheck = "PGAS_CHECK"

// goroutinesOnly skips a kind of PE in short mode, which is for the race detector: it sees conflicts
// between goroutines only, and makes everything else ten times as slow.
func goroutinesOnly(tb testing.TB) {
	if testing.Short() {
		tb.Skip("in short mode PEs are goroutines only")
	}
}

// Run runs body on npes PEs of every kind, as the subtests goroutines, processes and, with two PEs or
// more and where network namespaces are allowed, hosts. Its failure says with which kinds the body fails, and the
// command that runs the first of them alone.
//
// Of a benchmark it runs each kind as a sub-benchmark, whose iterations are whole jobs, from the start of the PEs to
// their end; Bench measures what PEs do inside a job.
func Run(tb testing.TB, npes int, body Body) {
	tb.Helper()
	report(tb, runKinds(tb, npes, body))
}

func runKinds(tb testing.TB, npes int, body Body) []outcome {
	tb.Helper()
	outcomes := []outcome{runGoroutines(tb, npes, body), runProcesses(tb, npes, body, nil)}
	if npes > 1 {
		outcomes = append(outcomes, runHosts(tb, npes, 2, body, nil))
	}
	return outcomes
}

// wantsRaces reports whether tests are to look for races between PEs: with PGAS_CHECK=race in the environment.
func wantsRaces() bool { return os.Getenv(envCheck) == "race" }

// RunGoroutines runs body on npes goroutine PEs, as a subtest.
func RunGoroutines(tb testing.TB, npes int, body Body) {
	tb.Helper()
	runGoroutines(tb, npes, body)
}

func runGoroutines(tb testing.TB, npes int, body Body) outcome {
	tb.Helper()
	return subtest(tb, "goroutines", func(tb testing.TB) {
		tb.Helper()
		if isPE() {
			return
		}
		ctx, cancel := hang.Context(tb.Context())
		defer cancel()
		if err := Goroutines(ctx, npes, Options{Check: checks(tb), Races: wantsRaces(), Stats: counts()}, body); err != nil {
			fail(tb, err)
		}
	})
}

// RunProcesses runs body on npes PEs that are processes of this host, as a subtest. env ("NAME=value")
// is added to their environment. It skips if env asks for the network's atomics and there is no network.
func RunProcesses(tb testing.TB, npes int, body Body, env ...string) {
	tb.Helper()
	runProcesses(tb, npes, body, env)
}

func runProcesses(tb testing.TB, npes int, body Body, env []string) outcome {
	tb.Helper()
	return subtest(tb, "processes", func(tb testing.TB) {
		tb.Helper()
		if slices.Contains(env, "PGAS_AMO=nic") && !ucx.Available {
			tb.Skip("this test binary was built without cgo, so it has no network to execute atomics")
		}
		runOnProcesses(tb, npes, body, env)
	})
}

// RunHosts runs body on npes PEs spread over nhosts hosts, as a subtest. It skips, with the reason, where
// hosts cannot be made. env ("NAME=value") is added to the environment of the PEs.
func RunHosts(tb testing.TB, npes, nhosts int, body Body, env ...string) {
	tb.Helper()
	runHosts(tb, npes, nhosts, body, env)
}

func runHosts(tb testing.TB, npes, nhosts int, body Body, env []string) outcome {
	tb.Helper()
	return subtest(tb, "hosts", func(tb testing.TB) {
		tb.Helper()
		runOnHosts(tb, npes, nhosts, body, env)
	})
}

// RunNIC runs body on npes PEs whose atomics the network executes, those on their own host included: on one
// host and, with two PEs or more, on two, as the subtest nic. It skips where there is no network.
func RunNIC(tb testing.TB, npes int, body Body) {
	tb.Helper()
	runGroup(tb, "nic", func(tb testing.TB) []outcome {
		outcomes := []outcome{runProcesses(tb, npes, body, []string{"PGAS_AMO=nic"})}
		if npes > 1 {
			outcomes = append(outcomes, runHosts(tb, npes, 2, body, []string{"PGAS_AMO=nic"}))
		}
		return outcomes
	})
}
