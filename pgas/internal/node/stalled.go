package node

// Whether this PE is stalled: every goroutine of the program waits, in this library or for another goroutine, and for
// some time no wait has ended. If all PEs are, nothing in the job moves by itself any more, and pgasrun says so
// (boot/launch/stall.go).
//
// The waiters of the PE find out, beside their waiting. One that wakes from the longest sleep notes when the number of
// ended waits has last changed. When that is long ago it looks at the stacks of all goroutines, which stops them for
// some microseconds, so rarely. A goroutine of the program that stands anywhere else computes, sleeps, or waits for a
// file, a connection, a timer or a channel: for all that is known it goes on, and the PE is not stalled. A wait whose
// context has a deadline ends by itself, so it is no stall either.
//
// The page of the PE has the answer until a wait ends, and how often waiters have woken since and found nothing: a PE
// that has been woken by another but has had no CPU since does not count on. A wait that ends while the stacks are
// looked at has changed the number of ended waits, which is looked at again after the answer is given.

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
)

// mostStacks is the number of goroutines up to which their stacks are looked at: more are stopped for too long.
const mostStacks = 10000

// stallWatch is what the waiters of a PE know of its standstill.
type stallWatch struct {
	after time.Duration // how long a standstill lasts before it is a stall; 0: no stall is looked for
	ended atomic.Uint64 // how many waits that had slept have ended so far
	timed atomic.Int32  // how many waits under way end at a deadline

	mu    sync.Mutex
	seen  uint64    // the last value of ended that look has seen
	since time.Time // when look first saw that value, or when it last looked at the stacks
}

// begin notes that a wait begins to sleep.
func (s *stallWatch) begin(ctx context.Context) (timed bool) {
	if _, timed = ctx.Deadline(); timed {
		s.timed.Add(1)
	}
	return timed
}

// end notes that the wait has ended; begin has returned timed.
func (s *stallWatch) end(st *boot.State, timed bool) {
	if timed {
		s.timed.Add(-1)
	}
	s.ended.Add(1) // before the load: look has them in the opposite order
	if st.Blocked.Stalled.Load() != 0 {
		st.Blocked.Stalled.Store(0)
	}
}

// look finds out whether the PE is stalled. A waiter calls it when it has slept for long and in vain.
func (s *stallWatch) look(st *boot.State) {
	if s.after == 0 || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	now, ended := time.Now(), s.ended.Load()
	if s.since.IsZero() || ended != s.seen {
		s.seen, s.since = ended, now
		return
	}
	if looks := st.Blocked.Stalled.Load(); looks != 0 {
		st.Blocked.Stalled.CompareAndSwap(looks, looks+1)
		return
	}
	if now.Sub(s.since) < s.after {
		return
	}
	s.since = now
	if s.timed.Load() != 0 || !programWaits() {
		return
	}
	st.Blocked.Stalled.Store(1)
	if s.ended.Load() != ended {
		st.Blocked.Stalled.Store(0)
	}
}

// programWaits reports whether every goroutine of the program waits in this library, or for another goroutine.
func programWaits() bool {
	stacks := make([]runtime.StackRecord, min(runtime.NumGoroutine()+16, mostStacks))
	n, ok := runtime.GoroutineProfile(stacks)
	if !ok {
		return false // there are more by now
	}
	for i := range stacks[:n] {
		if stackGoesOn(stacks[i].Stack()) {
			return false
		}
	}
	return true
}

// stackGoesOn reports whether a goroutine with that stack may go on without an update by another PE or goroutine. It
// looks at the calls from the last one out, up to the first that tells.
func stackGoesOn(pcs []uintptr) bool {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		switch {
		case inWait(f.Function):
			return false
		case f.Function != "" && !callsite.IsRuntime(f.Function, f.File) && !callsite.IsStandard(f.Function):
			return true
		case !more:
			// outer calls are not known; otherwise none is the program's
			return len(pcs) == len(runtime.StackRecord{}.Stack0)
		}
	}
}

// inWait reports whether a function of that name returns only after an update by another PE or goroutine. Functions of
// package sync that call the program are not among them: they stand on the stack behind what they call.
func inWait(function string) bool {
	switch function {
	case callsite.Module + "pgas/internal/node.(*Node).SleepUntil", callsite.Module + "pgas/internal/node.(*Node).AwaitClosed",
		"sync.(*WaitGroup).Wait", "sync.(*Mutex).Lock", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock", "sync.(*Cond).Wait":
		return true
	}
	return false
}
