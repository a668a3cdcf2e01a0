package dsm

// What the goroutines of a PE do among themselves. Nothing in this file blocks where a PE has one goroutine, as in the
// simulator.

import (
	"context"
	"sync"
	"sync/atomic"
)

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

// oneCall is a part of a handle in which one goroutine at a time may be.
type oneCall struct{ inside atomic.Bool }

// enter begins a call of op for a PE, which leave ends. It panics with *pgas.UsageError if another goroutine is inside.
func (o *oneCall) enter(op string, pe int) {
	if !o.inside.CompareAndSwap(false, true) {
		misuse(op, "another goroutine of this PE is in %s for PE %d: let them take turns, or give each an Event of its own", op, pe)
	}
}

func (o *oneCall) leave() { o.inside.Store(false) }
