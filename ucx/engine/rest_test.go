//go:build cgo

package engine

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// TestWaiterRests: where a job has more PEs than CPUs, a waiter that polls sleeps from time to time. A yield would be
// no voluntary switch, and would reach only threads of the waiter's own session or control group.
func TestWaiterRests(t *testing.T) {
	t.Setenv("UCX_TLS", "tcp")
	n := newNode(t, 0, false, 0, func(c *Config) { c.Oversubscribed, c.Spin = true, time.Hour })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := voluntarySwitches(t)
	if n.WaitWord(64, 8, Numbers().Comparisons[0], 1, false, time.Second) { // one call of C
		t.Fatal("a word that no PE has written has changed")
	}
	const least = 3 // with load 40 it gets the CPU every 120 ms or so; the return into Go may take one
	if slept := voluntarySwitches(t) - before; slept < least {
		t.Errorf("in a wait of a second the waiter has slept %d times, want %d or more", slept, least)
	}
}

var voluntary = regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s*(\d+)`)

// voluntarySwitches returns how often this thread has slept.
func voluntarySwitches(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		t.Skip(err)
	}
	m := voluntary.FindSubmatch(status)
	if m == nil {
		t.Skip("this kernel does not count voluntary switches")
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
