//go:build cgo

package engine

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/ucx/engine/outsidetest"
)

// blockedPage returns room for what boot.Blocked holds.
func blockedPage() Blocked {
	page := new(struct {
		op   atomic.Uint32
		rest [28]byte
	})
	return Blocked{Op: &page.op, Code: 7}
}

// outsideThread starts a thread at a that reads b, which need not serve.
func outsideThread(t *testing.T, a, b *node) (*Outside, *outsidetest.Thread) {
	t.Helper()
	connect := func(pe int) []byte { return [][]byte{a.Address(), b.Address()}[pe] }
	o, err := a.Outside([]int{1}, connect, blockedPage())
	if err != nil {
		t.Fatal(err)
	}
	outsidetest.Fill(b.heap[4096:][:64<<10], 1)
	thread, err := outsidetest.Start(outsidetest.Work{Address: o.Address(), PE: 1, Data: 4096, Bytes: 64 << 10, Word: 512 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return o, thread
}

// ended checks that the thread ends because a call has failed, with no wrong result before that.
func ended(t *testing.T, thread *outsidetest.Thread) outsidetest.Result {
	t.Helper()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	r, err := thread.Wait(limit)
	if err != nil || !r.Lost || r.Wrong != 0 {
		t.Fatalf("the thread has ended with %+v, %v", r, err)
	}
	return r
}

// TestOutsideCloses: Close ends the call under way, whether its peer answers or never does. Later calls fail too.
func TestOutsideCloses(t *testing.T) {
	for _, mute := range []bool{false, true} {
		a, b, _ := pair(t, mute, 0)
		o, thread := outsideThread(t, a, b)
		if mute {
			time.Sleep(20 * time.Millisecond) // most likely it waits for an answer by then
		} else {
			eventually(t, "the thread reads", func() bool { return thread.Rounds() > 10 })
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		if r := ended(t, thread); mute && r.Rounds != 0 {
			t.Errorf("a PE that does not serve has answered %d rounds", r.Rounds)
		}
		late, err := outsidetest.Start(outsidetest.Work{Address: o.Address(), PE: 1, Data: 4096, Bytes: 64 << 10, Word: 512 << 10})
		if err != nil {
			t.Fatal(err)
		}
		if r := ended(t, late); r.Rounds != 0 {
			t.Errorf("after Close the thread has done %d rounds", r.Rounds)
		}
		if err := o.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
	}
}

// TestOutsideInterrupted: a caller gives up calls that a PE does not answer. When the PE serves, its answers to those
// calls are dropped, and others bring what they must.
func TestOutsideInterrupted(t *testing.T) {
	a, b, _ := pair(t, true, 0)
	connect := func(pe int) []byte { return [][]byte{a.Address(), b.Address()}[pe] }
	o, err := a.Outside([]int{1}, connect, blockedPage())
	if err != nil {
		t.Fatal(err)
	}
	outsidetest.Fill(b.heap[4096:][:64<<10], 1)
	thread, err := outsidetest.Start(outsidetest.Work{Address: o.Address(), PE: 1, Data: 4096, Bytes: 64 << 10, Word: 512 << 10, Impatient: true})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "calls are given up", func() bool { return thread.GivenUp() > 200 })
	if n := thread.Rounds(); n != 0 {
		t.Errorf("a PE that does not serve has answered %d rounds", n)
	}
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the thread reads", func() bool { return thread.Rounds() > 50 })
	thread.Stop()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	if r, err := thread.Wait(limit); err != nil || r.Lost || r.Wrong != 0 {
		t.Errorf("the thread has done %+v, %v", r, err)
	}
}

// TestOutsideRefuses: a thread gets -1 for a PE without a lane, and Outside fails where an address cannot be had.
func TestOutsideRefuses(t *testing.T) {
	a, b, _ := pair(t, false, 0)
	_, err := a.Outside([]int{1}, func(int) []byte { return nil }, blockedPage())
	if err == nil || !strings.Contains(err.Error(), "the address of PE 1 cannot be had") {
		t.Errorf("without an address: %v", err)
	}
	if lost := a.Lost(); lost != nil {
		t.Errorf("a PE without an address counts as lost: %v", lost)
	}
	o, thread := outsideThread(t, a, b)
	thread.Stop()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	if r, err := thread.Wait(limit); err != nil || r.Lost || r.Wrong != 0 { // one thread at a time
		t.Fatalf("the thread that was stopped has done %+v, %v", r, err)
	}
	for _, pe := range []int{-1, 0, 2, 1 << 30} {
		none, err := outsidetest.Start(outsidetest.Work{Address: o.Address(), PE: pe, Data: 4096, Bytes: 8, Word: 8})
		if err != nil {
			t.Fatal(err)
		}
		if r := ended(t, none); r.Rounds != 0 {
			t.Errorf("PE %d has answered", pe)
		}
	}
}
