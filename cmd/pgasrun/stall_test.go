package main

// Jobs in which nothing moves: pgasrun says so by itself, once, and leaves them running. And jobs that only look so.

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/ucx"
)

const leftRunning = "The job is left as it is"

// TestStall: each kind of hang is reported with its lines and what to change; the job runs on.
func TestStall(t *testing.T) {
	program := hungProgram(t)
	for mode, want := range map[string][]string{
		"locks": {"PE 0: in lock Lock[1] (", "waiting for PE 1, called at hung/main.go:", "PEs 0-2 wait for each other's locks: take locks in the same order"},
		"held":  {"PE 0-1: in barrier number 5, waiting for PE 2, called at", "PE 0 waits in a barrier, and has a lock that PE 2 waits for: unlock it before"},
		"word":  {"PE 0-1: in barrier number 4, waiting for PE 2, called at", "PE 2: in wait on uint64[0] allocated at", "no PE is left to make the update that is awaited by PE 2: look"},
		// The wait that is shown is not that of a goroutine that has ended.
		"helped": {"PE 0-2: in wait on uint64[0] allocated at"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			reportsStall(t, program, []string{"-n", "3"}, mode, want)
		})
	}
	for name, place := range places(t) {
		t.Run("hosts/"+name, func(t *testing.T) {
			if !ucx.Available {
				t.Skip("PEs on two hosts, which need cgo")
			}
			reportsStall(t, program, place, "word", []string{"nothing has moved", "PE 2: in wait on uint64[0]"})
		})
	}
}

// hungProgram builds hung.
func hungProgram(t *testing.T) string {
	program := filepath.Join(t.TempDir(), "hung")
	if out, err := exec.Command("go", "build", "-o", program, "./testdata/hung").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// reportsStall runs hung, and ends it after its report.
func reportsStall(t *testing.T, program string, place []string, mode string, want []string) {
	r := hangs(t, program, place, mode)
	report := r.stderr.String()
	for _, part := range append(want, "pgasrun: nothing has moved for 100ms: every PE waits. ") {
		if !strings.Contains(report, part) {
			t.Errorf("the report lacks %q:\n%s", part, report)
		}
	}
	const looks = 3 // of the launcher at every PE; TestStallToldOnce has more
	for n := range looks {
		r.cmd.Process.Signal(unix.SIGQUIT)
		r.awaitText("pgasrun: what each PE is doing:", n+1)
	}
	if n := strings.Count(r.stderr.String(), leftRunning); n != 1 {
		t.Errorf("%d reports: %s", n, &r.stderr)
	}
	r.cmd.Process.Signal(unix.SIGINT)
	r.end()
	r.nothingLeft()
}

// hangs runs hung until it is reported.
func hangs(t *testing.T, program string, place []string, mode string) *running {
	t.Helper()
	r := launchJob(t, nil, slices.Concat(place, []string{"-stall", "100ms", program, mode})...)
	r.awaitText(leftRunning, 1)
	return r
}

// awaitText waits until pgasrun has said text so many times.
func (r *running) awaitText(text string, times int) {
	r.t.Helper()
	limit, cancel := hang.Context(r.t.Context())
	defer cancel()
	for strings.Count(r.stderr.String(), text) < times {
		if limit.Err() != nil {
			r.t.Fatalf("not %d times %q: %s", times, text, &r.stderr)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestNoStall: a PE that sleeps, computes, or waits for something else than PEs goes on, and so does a wait with a
// deadline. Each lasts for as long as this machine takes to start a job that hangs, and to report it, twice.
func TestNoStall(t *testing.T) {
	dir, program := t.TempDir(), hungProgram(t)
	r := launchJob(t, nil, "-n", "3", "-stall", "100ms", program, "slow", dir)
	for way := range 7 {
		r.ready(1)
		for range 2 {
			other := hangs(t, program, []string{"-n", "3"}, "word")
			other.cmd.Process.Kill()
			other.end()
		}
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(way)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, _ := r.end(); status != 0 || r.stderr.Len() != 0 {
		t.Errorf("status %d: %s", status, &r.stderr)
	}
}
