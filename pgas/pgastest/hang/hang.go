// Package hang tells a test that hangs from a test that is slow.
//
// A limit by the clock fails on a machine that is busy with something else. The time that counts against
// a limit of this package passes as fast as the machine lets its processes run: a second in which four
// threads want each CPU counts for a quarter of a second, and one in which this process was stopped counts for
// little. A test that hangs asleep ends after the limit; one that is slow under load has longer.
//
// It imports nothing of the module, so the tests of every package can use it.
package hang

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Limit is far above what any test takes on an idle machine.
const Limit = 4 * time.Minute

const (
	tick    = 250 * time.Millisecond
	maxTick = time.Second // the most that one tick counts for: if more has passed, this process was stopped
)

// Context returns a context that ends when Limit has been counted against it.
func Context(parent context.Context) (context.Context, context.CancelFunc) {
	return Within(parent, Limit)
}

// Within returns a context that ends when limit has been counted against it.
func Within(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	go watch(ctx, cancel, NewClock(), limit)
	return ctx, func() { cancel(context.Canceled) }
}

func watch(ctx context.Context, cancel context.CancelCauseFunc, clock *Clock, limit time.Duration) {
	every := time.NewTicker(min(tick, limit))
	defer every.Stop()
	start := time.Now()
	for clock.Counted() < limit {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
	cancel(fmt.Errorf("hangs: it has not ended within %v, not counting what the load of this machine took (%v by the clock)", limit, time.Since(start).Round(time.Second)))
}

// A Clock counts the time in which this process could have run. Its owner must call Counted at least once a
// second: time beyond that does not count.
type Clock struct {
	last    time.Time
	counted time.Duration
	share   func() float64
}

// NewClock returns a clock that has counted nothing.
func NewClock() *Clock { return &Clock{last: time.Now(), share: cpuShare} }

// Counted adds what has passed since the last call and returns the sum.
func (c *Clock) Counted() time.Duration {
	now := time.Now()
	passed := min(now.Sub(c.last), maxTick)
	c.last = now
	c.counted += time.Duration(float64(passed) * c.share())
	return c.counted
}

// cpuShare returns the share of a CPU that each runnable thread gets at the moment, at most 1.
func cpuShare() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 1 // not Linux: the clock alone
	}
	return shareOf(string(text), runtime.NumCPU())
}

// shareOf reads the share from a line of /proc/loadavg: "0.20 0.18 0.12 3/80 11206" has 3 threads that want a CPU.
func shareOf(loadavg string, cpus int) float64 {
	fields := strings.Fields(loadavg)
	if len(fields) < 4 {
		return 1
	}
	running, _, _ := strings.Cut(fields[3], "/")
	n, err := strconv.Atoi(running)
	if err != nil || n <= cpus {
		return 1
	}
	return float64(cpus) / float64(n)
}
