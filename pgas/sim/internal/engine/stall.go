package engine

import (
	"context"
	"math"
	"time"

	"github.com/gopgas/gopgas/pgas/transport"
)

// deadlineSlack is how long the engine waits for a deadline of real time before it ends all waits with ErrStalled.
const deadlineSlack = time.Second

// resolveStall is called when no event is left and PEs still wait. It waits for contexts that have a deadline of real
// time. Once, it ends all waits with ErrStalled, so that PEs look for the reason. It reports whether a task can go on
// now.
func (e *Engine) resolveStall() bool {
	if e.awaitDeadline(deadlineSlack) {
		return true
	}
	if !e.stallReported {
		e.stallReported = true
		if e.endAllWaits() {
			return true
		}
	}
	if e.awaitDeadline(math.MaxInt64) {
		return true
	}
	e.Fail(nil, e.model.Deadlock())
	return false
}

// endAllWaits ends all waits with ErrStalled, and reports whether there was any.
func (e *Engine) endAllWaits() (any bool) {
	for _, p := range e.pes {
		for len(p.waiting) > 0 {
			e.finish(p.waiting[0], transport.ErrStalled, 0)
			any = true
		}
	}
	return any
}

// awaitDeadline waits for the first deadline among the contexts of waiting tasks, if it comes within d and
// before that of the run. It reports whether it did.
func (e *Engine) awaitDeadline(d time.Duration) bool {
	end, bounded := e.config.Context.Deadline()
	var first context.Context
	for _, t := range e.cancellable {
		at, ok := t.wait.ctx.Deadline()
		if !ok || bounded && !at.Before(end) || time.Until(at) > d {
			continue
		}
		if first == nil {
			first = t.wait.ctx
		} else if earliest, _ := first.Deadline(); at.Before(earliest) {
			first = t.wait.ctx
		}
	}
	if first == nil {
		return false
	}
	<-first.Done()
	e.stallReported = false
	e.cancelled = true
	e.checkCancelled()
	return true
}
