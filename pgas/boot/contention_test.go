package boot

import (
	"testing"
	"time"
)

// TestContention: waiters sleep for a multiple of the slice that one of them has lost, one of them probes then, the
// next time is longer if it loses another slice, and they yield again when it has yielded often enough and lost
// nothing.
func TestContention(t *testing.T) {
	const ms = int64(time.Millisecond)
	var c Contention
	advise := func(now int64, want Advice) {
		t.Helper()
		if got := c.Advise(now); got != want {
			t.Fatalf("at %d ms: advice %d, want %d", now/ms, got, want)
		}
	}
	now := 1000 * ms
	advise(now, YieldCPU)
	c.Lost(now-4*ms, now, false)
	span := firstSpan * 4 * ms
	for range 10 { // loads until the bound is reached
		c.Lost(now-2*ms, now+ms, false) // a waiter that was yielding meanwhile: the same slice
		advise(now, SleepNow)
		advise(now+span-1, SleepNow)
		now += span
		advise(now, Probe)
		advise(now, SleepNow) // the others
		now += 4 * ms
		c.Lost(now-4*ms, now, true)
		span = min(longerSpan*span, longestSpan*4*ms)
	}
	now += span
	for i := range cleanYields / 8 {
		if i > 0 {
			advise(now-1, SleepNow)
		}
		advise(now, Probe)
		now += ms
		c.Probed(8, now)
	}
	advise(now, YieldCPU)
	c.Lost(now+ms, now+5*ms, false) // it was not over
	advise(now+5*ms+longestSpan*4*ms-1, SleepNow)
	advise(now+5*ms+longestSpan*4*ms, Probe)
	c.Probed(cleanYields, now+600*ms)
	now += 3_600_000 * ms
	c.Lost(now-2*ms, now, false) // another one, much later
	advise(now+firstSpan*2*ms-1, SleepNow)
	advise(now+firstSpan*2*ms, Probe)
	if n := c.Losses(); n != 13 {
		t.Errorf("%d slices counted, want 13", n)
	}
}

// TestContentionPaid: a lost slice counts if sleep in the waits before it would have been shorter than the slice.
func TestContentionPaid(t *testing.T) {
	for _, c := range []struct {
		lost time.Duration
		met  int64
		want bool
	}{
		{LostSlice, 0, false}, {4 * time.Millisecond, 62, false}, {4 * time.Millisecond, 63, true}, {LostSlice, 1000, true},
	} {
		if got := Paid(int64(c.lost), c.met); got != c.want {
			t.Errorf("a slice of %v after %d waits: paid %v, want %v", c.lost, c.met, got, c.want)
		}
	}
}

// TestContentionOneProber: a prober that does not come back keeps the others asleep for a while only.
func TestContentionOneProber(t *testing.T) {
	var c Contention
	c.Lost(0, int64(4*LostSlice), false)
	at := int64((4 + 4*firstSpan) * LostSlice)
	for range 3 {
		if c.Advise(at) != Probe || c.Advise(at+int64(probeTime)-1) != SleepNow {
			t.Fatal("not one prober at a time")
		}
		at += int64(probeTime)
	}
}
