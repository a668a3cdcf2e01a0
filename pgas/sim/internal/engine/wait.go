package engine

// Waits. A task that waits names the bytes of its PE's heap that its condition reads. The condition is evaluated
// again when one of them has changed: so a wait costs nothing while nothing happens.

import (
	"context"
	"errors"
	"slices"
	"time"
)

// wait is the wait of a task.
type wait struct {
	ctx    context.Context
	lo, hi uint64      // offsets of the bytes that ready reads; 0: any
	ready  func() bool // the condition; nil: only time or the end of ctx end the wait
}

// Await implements transport.Scheduler.
func (p *PE) Await(ctx context.Context, lo, hi uint64, ready func() bool) error {
	e, t := p.engine, p.Running()
	if e.order != nil {
		// Reading the words is a step of its own, even if the condition holds at once.
		e.order.WaitBegins(p, lo, hi)
	} else if ready() {
		return nil
	} else if err := context.Cause(ctx); err != nil {
		return err
	}
	e.begin(t, wait{ctx, lo, hi, ready})
	t.Park()
	return t.err
}

// begin makes t wait for w.
func (e *Engine) begin(t *Task, w wait) {
	t.generation++
	t.setBusy()
	t.waiting, t.wait, t.err = true, w, nil
	t.pe.waiting = append(t.pe.waiting, t)
	if done := w.ctx.Done(); done != nil && done != e.config.Context.Done() {
		e.cancellable = append(e.cancellable, t)
	}
}

// finish ends the wait of t, which goes on after d.
func (e *Engine) finish(t *Task, err error, d int64) {
	t.waiting, t.err = false, err
	ctx, reason := t.wait.ctx, t.wait.reason()
	t.wait.ready = nil
	i := slices.Index(t.pe.waiting, t)
	t.pe.waiting = slices.Delete(t.pe.waiting, i, i+1)
	if done := ctx.Done(); done != nil && done != e.config.Context.Done() {
		i := slices.Index(e.cancellable, t)
		e.cancellable = slices.Delete(e.cancellable, i, i+1)
	}
	if err == nil {
		e.stallReported = false
	}
	t.generation++
	if e.order != nil {
		e.order.WaitEnds(t)
	}
	e.ResumeAt(t, max(e.now+d, t.busyUntil), reason)
}

// reason returns the reason for which a task goes on when w ends.
func (w *wait) reason() Reason {
	if w.ready == nil {
		return Slept
	}
	return Waited + Reason(Mix(w.lo+w.hi)<<3)
}

// Ready reports whether the condition of t's wait holds. It reports false if t does not wait for a condition.
func (t *Task) Ready() bool { return t.wait.ready != nil && t.wait.ready() }

// WaitReason returns the reason for which t goes on when its wait ends.
func (t *Task) WaitReason() Reason { return t.wait.reason() }

// Words returns the offsets of the bytes that the condition of t's last wait reads.
func (t *Task) Words() (lo, hi uint64) { return t.wait.lo, t.wait.hi }

// EndWait ends the wait of t, whose condition holds.
func (e *Engine) EndWait(t *Task) { e.finish(t, nil, 0) }

// RecheckRange evaluates the conditions of tasks of p that read bytes from lo to hi.
func (p *PE) RecheckRange(lo, hi uint64) {
	e := p.engine
	if e.order != nil {
		return // an Order evaluates them at each choice
	}
	for i := 0; i < len(p.waiting); i++ {
		t := p.waiting[i]
		if w := &t.wait; w.ready != nil && w.lo < hi && lo < w.hi && w.ready() {
			e.finish(t, nil, e.model.WakeTime())
			i--
		}
	}
}

// Recheck evaluates the conditions of all tasks of p: one of its other tasks may have changed anything.
func (p *PE) Recheck() {
	e := p.engine
	if e.order != nil {
		return
	}
	for i := 0; i < len(p.waiting); i++ {
		if t := p.waiting[i]; t.wait.ready != nil && t.wait.ready() {
			e.finish(t, nil, e.model.WakeTime())
			i--
		}
	}
}

// cancelChecks bounds how many contexts are checked between two tasks.
const cancelChecks = 16

// checkCancelled ends waits whose contexts have ended. The simulator is not told when a context of another package
// ends, so it checks some of them each time.
func (e *Engine) checkCancelled() {
	n := min(len(e.cancellable), cancelChecks)
	if e.cancelled {
		e.cancelled, n = false, len(e.cancellable)
	}
	for range n {
		if len(e.cancellable) == 0 {
			return
		}
		if e.nextCancellable++; e.nextCancellable >= len(e.cancellable) {
			e.nextCancellable = 0
		}
		t := e.cancellable[e.nextCancellable]
		if err := context.Cause(t.wait.ctx); err != nil {
			e.finish(t, err, 0)
		}
	}
}

// CheckContexts ends all waits whose contexts have ended. An Order calls it before each choice, since any task may have
// ended a context.
func (e *Engine) CheckContexts() {
	if len(e.cancellable) > 0 {
		e.cancelled = true
		e.checkCancelled()
	}
}

// Sleep implements transport.Scheduler.
func (p *PE) Sleep(ctx context.Context, d time.Duration) error {
	e, t := p.engine, p.Running()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	e.begin(t, wait{ctx: ctx})
	gen := t.generation
	e.Schedule(t.busyUntil+Picos(d), &NewCall(p, Wake, func() {
		if t.waiting && t.generation == gen {
			e.finish(t, nil, 0)
		}
	}).Event)
	t.Park()
	return t.err
}

// EndSleeps ends the sleep of all tasks of p.
func (p *PE) EndSleeps() {
	e := p.engine
	for _, t := range slices.Clone(p.waiting) {
		if t.wait.ready == nil {
			e.finish(t, nil, e.model.WakeTime())
		}
	}
}

// Yield implements transport.Scheduler.
func (p *PE) Yield() {
	t := p.Running()
	e := p.engine
	if e.order != nil {
		e.order.Resume(t, Yielded)
		t.Park()
		return
	}
	e.Advance(t, e.model.PollTime())
}

// Go implements transport.Scheduler.
func (p *PE) Go(f func()) {
	t := p.Running()
	e := p.engine
	n := e.newTask(p, f)
	if e.order != nil {
		e.order.Created(n)
	}
	e.ResumeAt(n, e.now+t.Elapsed, Created)
}

// AboutToRead implements transport.Scheduler.
func (p *PE) AboutToRead() {
	if o := p.engine.order; o != nil {
		o.ReadsHeap(p)
	}
}

// Now implements transport.Scheduler.
func (p *PE) Now() time.Duration { return Duration(p.engine.now + p.engine.running.Elapsed) }

// Random implements transport.Scheduler.
func (p *PE) Random() uint64 { return p.random.Next() }

// WithTimeout implements transport.Scheduler.
func (p *PE) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	e := p.engine
	c, cancel := context.WithCancelCause(ctx)
	pending := true
	call := NewCall(p, Deadline, func() {
		pending = false
		cancel(context.DeadlineExceeded)
		e.cancelled = true
		e.checkCancelled()
	})
	e.Schedule(e.now+e.running.Elapsed+Picos(d), &call.Event)
	return timeout{c}, func() {
		if pending && e.order != nil {
			e.order.Remove(&call.Event)
		}
		pending = false
		cancel(context.Canceled)
		e.cancelled = true
	}
}

// timeout is a context that ends in virtual time.
type timeout struct{ context.Context }

func (t timeout) Err() error {
	err := t.Context.Err()
	if err != nil && errors.Is(context.Cause(t.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}
