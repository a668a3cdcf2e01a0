package main

// Jobs in which nothing moves: pgasrun says so by itself, once, and leaves them running. And jobs that only look so.

import (
	"slices"
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
	for mode, want := range map[string][]string{
		"locks": {"PE 0: in lock Lock[1] (", "waiting for PE 1, called at hung/main.go:", "PEs 0-2 wait for each other's locks: take locks in the same order"},
		"held":  {"PE 0-1: in barrier number 5, waiting for PE 2, called at", "PE 0 waits in a barrier, and has a lock that PE 2 waits for: unlock it before"},
		"word":  {"PE 0-1: in barrier number 4, waiting for PE 2, called at", "PE 2: in wait on uint64[0] allocated at", "no PE is left to make the update that is awaited by PE 2: look"},
		// The wait that is shown is not that of a goroutine that has ended.
		"helped": {"PE 0-2: in wait on uint64[0] allocated at"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			reportsStall(t, []string{"-n", "3"}, mode, want)
		})
	}
	for name, place := range places(t) {
		t.Run("hosts/"+name, func(t *testing.T) {
			if !ucx.Available {
				t.Skip("PEs on two hosts, which need cgo")
			}
			reportsStall(t, place, "word", []string{"nothing has moved", "PE 2: in wait on uint64[0]"})
		})
	}
}

// reportsStall runs hung, and ends it after its report.
func reportsStall(t *testing.T, place []string, mode string, want []string) {
	r := launchJob(t, nil, slices.Concat(place, []string{"-stall", "100ms", "./testdata/hung", mode})...)
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	for !strings.Contains(r.stderr.String(), leftRunning) {
		if limit.Err() != nil {
			t.Fatalf("no report: %s", &r.stderr)
		}
		time.Sleep(20 * time.Millisecond)
	}
	report := r.stderr.String()
	for _, part := range append(want, "pgasrun: nothing has moved for 100ms: every PE waits. ") {
		if !strings.Contains(report, part) {
			t.Errorf("the report lacks %q:\n%s", part, report)
		}
	}
	time.Sleep(500 * time.Millisecond) // in which another one could come
	if n := strings.Count(r.stderr.String(), leftRunning); n != 1 {
		t.Errorf("%d reports: %s", n, &r.stderr)
	}
	r.cmd.Process.Signal(unix.SIGINT)
	r.end()
	r.nothingLeft()
}

// TestNoStall: a PE that sleeps, computes, or waits for something else than PEs goes on, and so does a wait with a deadline.
func TestNoStall(t *testing.T) {
	r := launchJob(t, nil, "-n", "3", "-stall", "100ms", "./testdata/hung", "slow")
	if status, _ := r.end(); status != 0 || r.stderr.Len() != 0 {
		t.Errorf("status %d: %s", status, &r.stderr)
	}
}
