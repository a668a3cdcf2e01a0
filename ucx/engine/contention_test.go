//go:build cgo

package engine

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// whileContended sets that waiters are to sleep, for ever, and that they poll for ever otherwise.
func whileContended(c *Config) {
	words := new([5]atomic.Int64)
	words[0].Store(math.MaxInt64) // until when waiters sleep
	c.Contention, c.Spin = words, time.Hour
}

const forever = math.MaxInt64

// TestWaitsWhileContended: while other programs take the CPU from waiters that yield, a wait for a word leaves C soon,
// so that its goroutine sleeps on the doorbell. On a host with more PEs than CPUs a wait for an answer sleeps after its
// first looks.
func TestWaitsWhileContended(t *testing.T) {
	t.Setenv("UCX_TLS", "tcp")
	crowded := func(c *Config) { c.Oversubscribed = true }
	a, b := newNode(t, 0, false, 0, whileContended, crowded), newNode(t, 1, false, 0, whileContended, crowded)
	c, err := a.Channel(false, func(pe int) []byte { return [][]byte{a.Address(), b.Address()}[pe] })
	if err != nil {
		t.Fatal(err)
	}
	if a.WaitWord(64, 8, Numbers().Comparisons[0], 1, false, forever) { // otherwise it hangs
		t.Error("a word that no PE has written has changed")
	}
	a.WaitDoorbell(a.door.Load(), forever)
	if n := polled(a); n != 0 {
		t.Errorf("two waits beside PEs that share the CPU have polled %d times", n)
	}

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
	// an answer may be there when this thread gets its CPU again
	if slept := voluntarySwitches(t) - before; slept < calls/10 {
		t.Errorf("in %d calls the waiter has slept %d times", calls, slept)
	}
}

// polled returns how often waiters of n have polled for a while.
func polled(n *node) uint32 { return atomic.LoadUint32((*uint32)(&n.c.progress_calls)) }

// TestPollsWhileContended: with a CPU for each PE, a waiter polls for a while before it sleeps as long as words come to
// waiters that poll. If they do not, only one wait of several polls. One word that comes to it is enough for the next
// ones to poll.
func TestPollsWhileContended(t *testing.T) {
	t.Setenv("UCX_TLS", "tcp")
	a, b := newNode(t, 0, false, 0, whileContended), newNode(t, 1, false, 0)
	back, err := b.Channel(false, func(pe int) []byte { return [][]byte{a.Address(), b.Address()}[pe] })
	if err != nil {
		t.Fatal(err)
	}
	equal := Numbers().Comparisons[0]
	const waits, patient, again = 160, 4, 16
	for range waits {
		if a.WaitWord(64, 8, equal, 1, false, forever) { // otherwise it hangs
			t.Fatal("a word that no PE has written has changed")
		}
	}
	if n := polled(a); n < waits/again || n > patient+waits/again {
		t.Errorf("%d of %d waits in vain have polled, want one of %d after the first %d", n, waits, again, patient)
	}
	i := uint64(0)
	eventually(t, "a word comes to a waiter that polls", func() bool {
		i++
		back.Post(0, wordSet, 64, 8, i)
		for !a.WaitWord(64, 8, equal, i, false, forever) {
			runtime.Gosched()
		}
		return atomic.LoadUint32((*uint32)(&a.c.vain_stays)) == 0
	})
	before := polled(a)
	a.WaitWord(64, 8, equal, 0, false, forever)
	if polled(a) == before {
		t.Error("after a word that has come to a waiter that polled, the next wait does not poll")
	}
}
