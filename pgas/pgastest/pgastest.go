// Package pgastest runs the PEs of a test under plain go test: one body, on every kind of PE there is.
//
//	goroutines  in this process, over Go memory: `go test -race` sees conflicts between PEs
//	processes   the test binary, started again for each PE, over shared memory
//	hosts       the same on two hosts, which are network namespaces: UCX over TCP between them
//	sim         in virtual time, for bodies that it can run: RunSim, RunAll
//
// PEs check every access to symmetric memory, as with PGAS_CHECK=1: use of freed memory fails the test. With
// PGAS_CHECK=0 in the environment, or among what a call adds to it, they take the fast path instead. With PGAS_STATS=1 in
// the environment of the test they count what they do, for World.Stats.
//
// The test binary is its own launcher. The processes of the PEs run the test function again up to the call of Run, so
// they must reach it in the same way as the process of go test.
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

// checks reports whether PEs check their accesses to symmetric memory: unless the environment has PGAS_CHECK=0.
func checks() bool { return os.Getenv(envCheck) != "0" }

// counts reports whether PEs count what they do: if the environment has PGAS_STATS=1.
func counts() bool { return os.Getenv("PGAS_STATS") == "1" }

const envCheck = "PGAS_CHECK"

// goroutinesOnly skips a kind of PE in short mode, which is for the race detector: it sees conflicts
// between goroutines only, and makes everything else ten times as slow.
func goroutinesOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode PEs are goroutines only")
	}
}

// Run runs body on npes PEs of every kind, as the subtests goroutines, processes and, with two PEs or
// more and where network namespaces are allowed, hosts.
func Run(t *testing.T, npes int, body Body) {
	t.Helper()
	RunGoroutines(t, npes, body)
	RunProcesses(t, npes, body)
	if npes > 1 {
		RunHosts(t, npes, 2, body)
	}
}

// RunGoroutines runs body on npes goroutine PEs, as a subtest.
func RunGoroutines(t *testing.T, npes int, body Body) {
	t.Helper()
	t.Run("goroutines", func(t *testing.T) {
		t.Helper()
		if isPE() {
			return
		}
		ctx, cancel := hang.Context(t.Context())
		defer cancel()
		if err := Goroutines(ctx, npes, Options{Check: checks(), Stats: counts()}, body); err != nil {
			t.Fatal(err)
		}
	})
}

// RunProcesses runs body on npes PEs that are processes of this host, as a subtest. env ("NAME=value")
// is added to their environment. It skips if env asks for the network's atomics and there is no network.
func RunProcesses(t *testing.T, npes int, body Body, env ...string) {
	t.Helper()
	t.Run("processes", func(t *testing.T) {
		if slices.Contains(env, "PGAS_AMO=nic") && !ucx.Available {
			t.Skip("this test binary was built without cgo, so it has no network to execute atomics")
		}
		runOnProcesses(t, npes, body, env)
	})
}

// RunHosts runs body on npes PEs spread over nhosts hosts, as a subtest. It skips, with the reason, where
// hosts cannot be made. env ("NAME=value") is added to the environment of the PEs.
func RunHosts(t *testing.T, npes, nhosts int, body Body, env ...string) {
	t.Helper()
	t.Run("hosts", func(t *testing.T) { runOnHosts(t, npes, nhosts, body, env) })
}

// RunNIC runs body on npes PEs whose atomics the network executes, those on their own host included: on one
// host and, with two PEs or more, on two, as the subtest nic. It skips where there is no network.
func RunNIC(t *testing.T, npes int, body Body) {
	t.Helper()
	t.Run("nic", func(t *testing.T) {
		t.Helper()
		RunProcesses(t, npes, body, "PGAS_AMO=nic")
		if npes > 1 {
			RunHosts(t, npes, 2, body, "PGAS_AMO=nic")
		}
	})
}
