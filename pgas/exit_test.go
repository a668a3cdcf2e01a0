package pgas_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// peOfTest is set, to its name, in the PEs of a test that starts jobs of its own.
const peOfTest = "PGASTEST_JOB_OF"

// asPE runs body and does not return, if this process is a PE of a job that startJob has started.
func asPE(t *testing.T, body pgastest.Body) {
	if os.Getenv(peOfTest) == t.Name() {
		pgas.Main(body)
		os.Exit(0)
	}
}

// withoutRaces makes a test check accesses alone where PGAS_CHECK=race is set: the test counts allocations or
// knows addresses of the heap, and the detector takes some, or its program has races on purpose.
func withoutRaces(t *testing.T) {
	if os.Getenv("PGAS_CHECK") == "race" {
		t.Setenv("PGAS_CHECK", "1")
	}
}

// startJob runs the calling test again on PEs of hosts, with env on top of the environment.
func startJob(t *testing.T, name string, hosts []boot.Host, env ...string) (res launch.Result, out, errs string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	var stdout, stderr bytes.Buffer
	res, err = launch.Run(ctx, launch.Spec{
		Hosts: hosts, Program: self, Args: []string{"-test.run=^" + name + "$"},
		Env:    append([]string{peOfTest + "=" + name, "PGAS_HEAP_MAX=16m"}, env...),
		Stdout: &stdout, Stderr: &stderr, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self},
	})
	if err != nil {
		t.Errorf("%v: %s", err, &stderr)
	}
	return res, stdout.String(), stderr.String()
}

// TestProcessesDisagreeOnRaces: a job in which a program takes PGAS_CHECK=race from one process is refused with one
// line.
func TestProcessesDisagreeOnRaces(t *testing.T) {
	if os.Getenv(peOfTest) == t.Name() {
		if f, err := os.OpenFile(os.Getenv("PGASTEST_FIRST"), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
			os.Setenv("PGAS_CHECK", "1")
		}
	}
	asPE(t, func(ctx context.Context, w *pgas.World) error { return w.Barrier(ctx) })
	first := filepath.Join(t.TempDir(), "first")
	t.Setenv("PGAS_CHECK", "race")
	res, _, errs := startJob(t, t.Name(), []boot.Host{{Name: launch.Local, PEs: 3}}, "PGASTEST_FIRST="+first)
	if res.Status != 1 || !strings.Contains(errs, "set the same for every process") {
		t.Errorf("status %d, and it said %q", res.Status, errs)
	}
}

// PE 3 ends the job, while one PE computes, one is in a barrier and one waits for a lock. The status is
// what it asked for, and nobody reports a failure, on other hosts either.
func TestGlobalExit(t *testing.T) {
	asPE(t, exits)
	t.Run("processes", func(t *testing.T) {
		checkGlobalExit(t, []boot.Host{{Name: launch.Local, PEs: 4}})
	})
	t.Run("hosts", func(t *testing.T) {
		hosts := pgastest.NewHosts(t, 2)
		checkGlobalExit(t, []boot.Host{{Name: hosts.Names[0], PEs: 2}, {Name: hosts.Names[1], PEs: 2}})
	})
}

func checkGlobalExit(t *testing.T, hosts []boot.Host) {
	res, out, errs := startJob(t, "TestGlobalExit", hosts)
	if res.Status != 42 || res.First != nil {
		t.Errorf("status %d, %v; want 42", res.Status, res.First)
	}
	if errs != "" || !strings.Contains(out, "these are my last words\n") {
		t.Errorf("it printed %q, and on standard error %q", out, errs)
	}
}

func exits(ctx context.Context, w *pgas.World) error {
	locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
	if err != nil {
		return err
	}
	lock := pgas.LockOf(locks, 0)
	if w.PE() == 3 {
		if err := lock.Lock(ctx); err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	switch w.PE() {
	case 0:
		return w.Barrier(ctx) //pgasvet:ok nobody comes: all wait until a PE exits
	case 1:
		return lock.Lock(ctx)
	case 2:
		for n := 0; ; n++ {
			locks.Local()
		}
	}
	for pgas.LockTail(lock) != 2 { // PE 1 waits behind this one
		w.Fence()
	}
	os.Stdout.WriteString("these are my last words\n")
	w.GlobalExit(42)
	return nil
}

func TestGlobalExitMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(_ context.Context, w *pgas.World) error {
		for _, status := range []int{-1, 256} {
			if err := mustMisuse(func() { w.GlobalExit(status) }); err != nil {
				return err
			}
		}
		return nil
	})
}
