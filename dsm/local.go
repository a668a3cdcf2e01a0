package dsm

// What the goroutines of a PE do among themselves. Nothing in this file blocks where a PE has one goroutine, as in the
// simulator.

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// versionNumbers are numbers by block that fetches of any goroutine and fences set.
type versionNumbers []atomic.Uint64

func (v versionNumbers) get(b int32) uint64    { return v[b].Load() }
func (v versionNumbers) set(b int32, n uint64) { v[b].Store(n) }

// fenceTurn admits one fence of this PE at a time. Without another fence it is one atomic operation each way: a barrier
// takes it twice.
type fenceTurn struct {
	state atomic.Uint32 // turnFree, turnTaken, or turnAwaited: taken, and there may be goroutines that wait
	woken chan struct{} // a turn that was awaited has been given: one of those that wait tries again
}

const (
	turnFree = iota
	turnTaken
	turnAwaited
)

// take blocks until no other fence of this PE is under way. It returns the cause of ctx's end if ctx ends first.
func (t *fenceTurn) take(ctx context.Context) error {
	if t.state.CompareAndSwap(turnFree, turnTaken) {
		return nil
	}
	for t.state.Swap(turnAwaited) != turnFree {
		select {
		case <-t.woken:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// give ends the turn. What wakes a waiter stays in the channel if the waiter leaves: the next one finds it.
func (t *fenceTurn) give() {
	if t.state.Swap(turnFree) != turnAwaited {
		return
	}
	select {
	case t.woken <- struct{}{}:
	default:
	}
}

// background runs work beside the program. Nothing starts after wait.
type background struct {
	mu    sync.Mutex
	ended bool
	wg    sync.WaitGroup
}

func (b *background) start(work func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.wg.Go(work)
	}
}

// wait blocks until all work has ended.
func (b *background) wait() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.wg.Wait()
}

// behind is the releases that go on after their contexts have ended. Nothing starts after end.
type behind struct {
	ctx    context.Context // of their waits
	cancel context.CancelFunc
	mu     sync.Mutex
	ended  bool
	last   *pgas.Group
}

// start runs work, and reports whether it does.
func (b *behind) start(w *pgas.World, work func(ctx context.Context)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.last = w.Go(b.ctx, func(context.Context) error { work(b.ctx); return nil })
	}
	return !b.ended
}

// endPatience is how long the end of a World waits for a release that goes on, since other PEs wait for its turns.
const endPatience = time.Second

// end returns when no release is under way. It ends the waits of one that goes on for long.
func (b *behind) end(simulated bool) {
	b.mu.Lock()
	b.ended = true
	last := b.last
	b.mu.Unlock()
	if last != nil {
		if !simulated {
			defer time.AfterFunc(endPatience, b.cancel).Stop()
		}
		last.Wait()
	}
	b.cancel()
}

// meeting is a barrier of the goroutines of one PE. The last one to come runs an action for all.
type meeting struct {
	mu      sync.Mutex
	members int
	came    int
	result  *meetingResult
}

// meetingResult is what one meeting ends with.
type meetingResult struct {
	over chan struct{}
	err  error
}

func newMeeting(members int) *meeting {
	return &meeting{members: members, result: &meetingResult{over: make(chan struct{})}}
}

// meet blocks until all members have called it, and returns what action, which the last of them runs, has returned.
// If ctx ends before, the member leaves with the cause, and the others wait until their contexts end, too.
func (m *meeting) meet(ctx context.Context, action func() error) error {
	m.mu.Lock()
	m.came++
	r := m.result
	if m.came < m.members {
		m.mu.Unlock()
		select {
		case <-r.over:
			return r.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	m.came, m.result = 0, &meetingResult{over: make(chan struct{})}
	m.mu.Unlock()
	r.err = action()
	close(r.over)
	return r.err
}

// start runs body for each of n members, on the caller's goroutine if n is 1, and waits for all. The first error ends
// the context of the others.
func start(ctx context.Context, n int, body func(ctx context.Context, i int) error) error {
	if n == 1 {
		return body(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for i := range n {
		wg.Go(func() {
			if err := body(ctx, i); err != nil {
				once.Do(func() {
					first = err
					cancel(err)
				})
			}
		})
	}
	wg.Wait()
	return first
}

// scratch keeps buffers for fetches and releases.
type scratch struct{ pool sync.Pool }

// take returns n bytes, whose contents are undefined.
func (s *scratch) take(n int) *[]byte {
	b, _ := s.pool.Get().(*[]byte)
	if b == nil || cap(*b) < n {
		fresh := make([]byte, n)
		return &fresh
	}
	*b = (*b)[:n]
	return b
}

// give takes back what take has returned.
func (s *scratch) give(b *[]byte) { s.pool.Put(b) }

// oneCall is a part of a handle in which one goroutine at a time may be.
type oneCall struct{ inside atomic.Bool }

// enter begins a call of op for a PE, which leave ends. It panics with *pgas.UsageError if another goroutine is inside.
func (o *oneCall) enter(op string, pe int) {
	if !o.inside.CompareAndSwap(false, true) {
		misuse(op, "another goroutine of this PE is in %s for PE %d: let them take turns, or give each an Event of its own", op, pe)
	}
}

func (o *oneCall) leave() { o.inside.Store(false) }
