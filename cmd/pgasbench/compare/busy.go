package compare

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	// the part of the machine that other processes may take before the report says so
	busyAbove = 0.1
	lookFor   = 300 * time.Millisecond // for how long to look
)

// othersTake returns the part of the machine's CPU time, 0 to 1, that other processes take while this
// program rests. All rows are of programs that wait for each other, and a third one in between spoils them.
func othersTake(ctx context.Context) float64 {
	before, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	select {
	case <-ctx.Done():
	case <-time.After(lookFor):
	}
	after, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return busyBetween(string(before), string(after))
}

// busyBetween compares two readings of /proc/stat, whose first line counts the ticks of all CPUs by what
// they were spent on: user, nice, system, idle, waiting for input, interrupts and stolen time.
func busyBetween(before, after string) float64 {
	allBefore, idleBefore := ticks(before)
	allAfter, idleAfter := ticks(after)
	if allAfter <= allBefore {
		return 0
	}
	return 1 - (idleAfter-idleBefore)/(allAfter-allBefore)
}

func ticks(stat string) (all, idle float64) {
	line, _, _ := strings.Cut(stat, "\n")
	for i, field := range strings.Fields(line) {
		var n float64
		if _, err := fmt.Sscan(field, &n); err != nil || i > 8 {
			continue // the name of the line; time of guests, which counts as user time already
		}
		all += n
		if i == 4 || i == 5 {
			idle += n
		}
	}
	return all, idle
}
