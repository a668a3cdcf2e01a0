package sim

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
	lo, hi uint64
	ready  func() bool // the condition; nil: only time or the end of ctx end the wait
}

// Await implements transport.Scheduler.
func (p *pe) Await(ctx context.Context, lo, hi uint64, ready func() bool) error {
	s, t := p.s, p.runningTask()
	if s.exploring() {
		// Reading the words is a move of its own, even if the condition holds at once.
		s.explorer.waitBegins(p, lo, hi)
	} else if ready() {
		return nil
	} else if err := context.Cause(ctx); err != nil {
		return err
	}
	s.begin(t, wait{ctx, lo, hi, ready})
	t.park()
	return t.err
}

// begin makes t wait for w.
func (s *sim) begin(t *task, w wait) {
	t.generation++
	s.setBusy(t)
	t.waiting, t.wait, t.err = true, w, nil
	t.pe.waiting = append(t.pe.waiting, t)
	if done := w.ctx.Done(); done != nil && done != s.ctx.Done() {
		s.cancellable = append(s.cancellable, t)
	}
}

// finish ends the wait of t, which goes on after d.
func (s *sim) finish(t *task, err error, d int64) {
	t.waiting, t.err = false, err
	ctx, reason := t.wait.ctx, t.wait.reason()
	t.wait.ready = nil
	i := slices.Index(t.pe.waiting, t)
	t.pe.waiting = slices.Delete(t.pe.waiting, i, i+1)
	if done := ctx.Done(); done != nil && done != s.ctx.Done() {
		i := slices.Index(s.cancellable, t)
		s.cancellable = slices.Delete(s.cancellable, i, i+1)
	}
	if err == nil {
		s.stallReported = false
	}
	t.generation++
	if s.exploring() {
		s.explorer.waitEnds(t)
	}
	s.resumeAt(t, max(s.now+d, t.busyUntil), reason)
}

// reason returns the reason for which a task goes on when w ends.
func (w *wait) reason() uint64 {
	if w.ready == nil {
		return reasonSlept
	}
	return reasonWait + mix(w.lo+w.hi)<<3
}

// recheckRange evaluates the conditions of tasks of p that read bytes from lo to hi.
func (s *sim) recheckRange(p *pe, lo, hi uint64) {
	if s.exploring() {
		return // an exploration evaluates them at each choice
	}
	for i := 0; i < len(p.waiting); i++ {
		t := p.waiting[i]
		if w := &t.wait; w.ready != nil && w.lo < hi && lo < w.hi && w.ready() {
			s.finish(t, nil, s.wakeTime())
			i--
		}
	}
}

// recheckAll evaluates the conditions of all tasks of p: one of its other tasks may have changed anything.
func (s *sim) recheckAll(p *pe) {
	if s.exploring() {
		return
	}
	for i := 0; i < len(p.waiting); i++ {
		if t := p.waiting[i]; t.wait.ready != nil && t.wait.ready() {
			s.finish(t, nil, s.wakeTime())
			i--
		}
	}
}

// cancelChecks bounds how many contexts are checked between two tasks.
const cancelChecks = 16

// checkCancelled ends waits whose contexts have ended. The simulator is not told when a context of another package
// ends, so it checks some of them each time.
func (s *sim) checkCancelled() {
	n := min(len(s.cancellable), cancelChecks)
	if s.cancelled {
		s.cancelled, n = false, len(s.cancellable)
	}
	for range n {
		if len(s.cancellable) == 0 {
			return
		}
		if s.nextCancellable++; s.nextCancellable >= len(s.cancellable) {
			s.nextCancellable = 0
		}
		t := s.cancellable[s.nextCancellable]
		if err := context.Cause(t.wait.ctx); err != nil {
			s.finish(t, err, 0)
		}
	}
}

// Sleep implements transport.Scheduler.
func (p *pe) Sleep(ctx context.Context, d time.Duration) error {
	s, t := p.s, p.runningTask()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.begin(t, wait{ctx: ctx})
	gen := t.generation
	s.schedule(t.busyUntil+picos(d), s.callOp(p, callWake, func() {
		if t.waiting && t.generation == gen {
			s.finish(t, nil, 0)
		}
	}))
	t.park()
	return t.err
}

// endSleeps ends the sleep of all tasks of p.
func (s *sim) endSleeps(p *pe) {
	for _, t := range slices.Clone(p.waiting) {
		if t.wait.ready == nil {
			s.finish(t, nil, s.wakeTime())
		}
	}
}

// Yield implements transport.Scheduler.
func (p *pe) Yield() {
	t := p.runningTask()
	if p.s.exploring() {
		p.s.explorer.yield(t)
		return
	}
	p.s.advance(t, p.s.pollTime())
}

// Go implements transport.Scheduler.
func (p *pe) Go(f func()) {
	t := p.runningTask()
	n := p.s.newTask(p, f)
	if p.s.exploring() {
		p.s.explorer.move.created = append(p.s.explorer.move.created, n.proc())
	}
	p.s.resumeAt(n, p.s.now+t.elapsed, reasonCreated)
}

// AboutToRead implements transport.Scheduler.
func (p *pe) AboutToRead() {
	if p.s.exploring() {
		p.s.explorer.readsHeap(p)
	}
}

// Now implements transport.Scheduler.
func (p *pe) Now() time.Duration { return duration(p.s.now + p.s.running.elapsed) }

// Random implements transport.Scheduler.
func (p *pe) Random() uint64 { return p.random.next() }

// WithTimeout implements transport.Scheduler.
func (p *pe) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	s := p.s
	c, cancel := context.WithCancelCause(ctx)
	pending := true
	o := s.callOp(p, callDeadline, func() {
		pending = false
		cancel(context.DeadlineExceeded)
		s.cancelled = true
		s.checkCancelled()
	})
	s.schedule(s.now+s.running.elapsed+picos(d), o)
	return timeout{c}, func() {
		if pending && s.exploring() {
			s.explorer.removePending(o)
		}
		pending = false
		cancel(context.Canceled)
		s.cancelled = true
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

// splitmix is a small generator of random numbers.
type splitmix uint64

func (r *splitmix) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r))
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Times in this package are picoseconds: on many networks a byte takes less than a nanosecond.

func picos(d time.Duration) int64 { return int64(d) * 1000 }

func duration(at int64) time.Duration { return time.Duration(at / 1000) }
