package hang

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestShareIn(t *testing.T) {
	for line, want := range map[string]float64{
		"0.20 0.18 0.12 1/80 11206\n":   1,
		"0.20 0.18 0.12 2/80 11206\n":   1,
		"40.1 22.0 9.12 40/180 11206\n": 0.05,
		"40.1 22.0 9.12 x/180 11206\n":  1,
		"nonsense":                      1,
		"":                              1,
	} {
		if got := shareOf(line, 2); got != want {
			t.Errorf("of %q each thread gets %v of a CPU, want %v", line, got, want)
		}
	}
}

// TestClockUnderLoad: with 40 threads for 2 CPUs, what the clock counts is at most a twentieth of what passes.
func TestClockUnderLoad(t *testing.T) {
	c := NewClock()
	c.share = func() float64 { return 0.05 }
	c.last = c.last.Add(-500 * time.Millisecond)
	if got := c.Counted(); got < 25*time.Millisecond {
		t.Errorf("half a second under load 40 counts for %v, want 25ms or a little more", got)
	}
	c.last = c.last.Add(-time.Hour) // stopped, and continued
	before := c.counted
	if got := c.Counted() - before; got > 50*time.Millisecond {
		t.Errorf("an hour in which the process was stopped counts for %v, want at most 50ms", got)
	}
}

func TestWithinEndsWhatHangs(t *testing.T) {
	ctx, cancel := Within(t.Context(), 10*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	if err := context.Cause(ctx); err == nil || !strings.Contains(err.Error(), "has not ended within 10ms") {
		t.Errorf("the cause is %v", err)
	}
}

func TestCancelIsNoHang(t *testing.T) {
	ctx, cancel := Context(t.Context())
	cancel()
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is %v", err)
	}
}
