package protocol

// What the goroutines of a PE do among themselves. Nothing in this file blocks where a PE has one goroutine, as in the
// simulator.

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// FenceTurn admits one fence of this PE at a time. Without another fence it is one atomic operation each way: a barrier
// takes it twice.
type FenceTurn struct {
	state atomic.Uint32 // turnFree, turnTaken, or turnAwaited: taken, and there may be goroutines that wait
	woken chan struct{} // a turn that was awaited has been given: one of those that wait tries again
}

const (
	turnFree = iota
	turnTaken
	turnAwaited
)

// Take blocks until no other fence of this PE is under way. It returns the cause of ctx's end if ctx ends first.
func (t *FenceTurn) Take(ctx context.Context) error {
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

// Give ends the turn. What wakes a waiter stays in the channel if the waiter leaves: the next one finds it.
func (t *FenceTurn) Give() {
	if t.state.Swap(turnFree) != turnAwaited {
		return
	}
	select {
	case t.woken <- struct{}{}:
	default:
	}
}

// behind is the releases that go on after their contexts have ended. Nothing starts after end.
type behind struct {
	ctx    context.Context // the context of the goroutines' waits
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
