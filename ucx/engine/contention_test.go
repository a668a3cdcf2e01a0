//go:build cgo

package engine

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestWaitsWhileContended: while other programs take the CPU from waiters that yield, a wait for a word leaves C at once, so that
// its goroutine sleeps on the doorbell, and a wait for an answer sleeps after its first looks.
func TestWaitsWhileContended(t *testing.T) {
	t.Setenv("UCX_TLS", "tcp")
	contended := func(c *Config) {
		words := new([5]atomic.Int64)
		words[0].Store(math.MaxInt64) // until when waiters sleep
		c.Contention, c.Spin = words, time.Hour
	}
	a, b := newNode(t, 0, false, 0, contended), newNode(t, 1, false, 0, contended)
	c, err := a.Channel(false, func(pe int) []byte { return [][]byte{a.Address(), b.Address()}[pe] })
	if err != nil {
		t.Fatal(err)
	}
	const forever = math.MaxInt64
	if a.WaitWord(64, 8, Numbers().Comparisons[0], 1, false, forever) { // otherwise it hangs
		t.Error("a word that no PE has written has changed")
	}
	a.WaitDoorbell(a.door.Load(), forever)

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const calls = 500
	before := voluntarySwitches(t)
	for i := range uint64(calls) {
		old, err := c.Fetch(t.Context(), 1, wordAdd, 64, 8, 1, 0)
		if err != nil || old != i {
			t.Fatalf("call %d: %d, %v", i, old, err)
		}
	}
	if slept := voluntarySwitches(t) - before; slept < calls/10 { // an answer may be there when this thread gets its CPU again
		t.Errorf("in %d calls the waiter has slept %d times", calls, slept)
	}
}
