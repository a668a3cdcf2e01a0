package sim

// Waiting. A task that waits says which bytes of its PE's heap it looks at, and is asked again when one of
// them has changed: so a wait costs nothing while nothing happens.

import (
	"context"
	"errors"
	"slices"
	"time"
)

// wait is what a task waits for.
type wait struct {
	ctx    context.Context
	lo, hi uint64
	ready  func() bool // nil: for time to pass, or ctx
}

// Await is transport.Scheduler's.
func (p *pe) Await(ctx context.Context, lo, hi uint64, ready func() bool) error {
	s, t := p.s, p.live()
	if s.exploring() {
		// The look at the words is a move of its own, also if it is the last.
		s.explorer.awaits(p, lo, hi)
	} else if ready() {
		return nil
	} else if err := context.Cause(ctx); err != nil {
		return err
	}
	s.begin(t, wait{ctx, lo, hi, ready})
	t.park()
	return t.err
}

// begin makes t wait.
func (s *sim) begin(t *task, w wait) {
	t.gen++
	s.settle(t)
	t.waiting, t.wait, t.err = true, w, nil
	t.pe.waiting = append(t.pe.waiting, t)
	if done := w.ctx.Done(); done != nil && done != s.ctx.Done() {
		s.fragile = append(s.fragile, t)
	}
}

// finish ends the wait of t, which goes on after d.
func (s *sim) finish(t *task, err error, d int64) {
	t.waiting, t.err = false, err
	ctx, why := t.wait.ctx, t.wait.why()
	t.wait.ready = nil
	i := slices.Index(t.pe.waiting, t)
	t.pe.waiting = slices.Delete(t.pe.waiting, i, i+1)
	if done := ctx.Done(); done != nil && done != s.ctx.Done() {
		i := slices.Index(s.fragile, t)
		s.fragile = slices.Delete(s.fragile, i, i+1)
	}
	if err == nil {
		s.lookedAround = false
	}
	t.gen++
	if s.exploring() {
		s.explorer.ends(t)
	}
	s.after(t, max(s.now+d, t.busy), why)
}

// why identifies w among the reasons why a task goes on.
func (w *wait) why() uint64 {
	if w.ready == nil {
		return whySlept
	}
	return whyWait + mix(w.lo+w.hi)<<3
}

// touched asks the tasks of p again that look at the bytes from lo to hi.
func (s *sim) touched(p *pe, lo, hi uint64) {
	if s.exploring() {
		return // which asks every time
	}
	for i := 0; i < len(p.waiting); i++ {
		t := p.waiting[i]
		if w := &t.wait; w.ready != nil && w.lo < hi && lo < w.hi && w.ready() {
			s.finish(t, nil, s.wakeTime())
			i--
		}
	}
}

// recheckOwn asks all waiting tasks of p again: one of its other tasks may have changed anything.
func (s *sim) recheckOwn(p *pe) {
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

// fragileLooks bounds how many contexts are looked at between two tasks.
const fragileLooks = 16

// checkFragile ends waits whose contexts have ended. Nobody tells when one ends that is not of this
// package, so some of them are looked at each time.
func (s *sim) checkFragile() {
	n := min(len(s.fragile), fragileLooks)
	if s.cancelled {
		s.cancelled, n = false, len(s.fragile)
	}
	for range n {
		if len(s.fragile) == 0 {
			return
		}
		if s.nextFragile++; s.nextFragile >= len(s.fragile) {
			s.nextFragile = 0
		}
		t := s.fragile[s.nextFragile]
		if err := context.Cause(t.wait.ctx); err != nil {
			s.finish(t, err, 0)
		}
	}
}

// Sleep is transport.Scheduler's.
func (p *pe) Sleep(ctx context.Context, d time.Duration) error {
	s, t := p.s, p.live()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.begin(t, wait{ctx: ctx})
	gen := t.gen
	s.at(t.busy+picos(d), s.callOp(p, callWake, func() {
		if t.waiting && t.gen == gen {
			s.finish(t, nil, 0)
		}
	}))
	t.park()
	return t.err
}

// wake ends the sleep of all tasks of p.
func (s *sim) wake(p *pe) {
	for _, t := range slices.Clone(p.waiting) {
		if t.wait.ready == nil {
			s.finish(t, nil, s.wakeTime())
		}
	}
}

// Yield is transport.Scheduler's.
func (p *pe) Yield() {
	t := p.live()
	if p.s.exploring() {
		p.s.explorer.yield(t)
		return
	}
	p.s.elapse(t, p.s.pollTime())
}

// Go is transport.Scheduler's.
func (p *pe) Go(f func()) {
	t := p.live()
	n := p.s.newTask(p, f)
	if p.s.exploring() {
		p.s.explorer.move.born = append(p.s.explorer.move.born, n.who())
	}
	p.s.after(n, p.s.now+t.lag, whyBorn)
}

// Looks is transport.Scheduler's.
func (p *pe) Looks() {
	if p.s.exploring() {
		p.s.explorer.looks(p)
	}
}

// Now is transport.Scheduler's.
func (p *pe) Now() time.Duration { return duration(p.s.now + p.s.running.lag) }

// Random is transport.Scheduler's.
func (p *pe) Random() uint64 { return p.random.next() }

// WithTimeout is transport.Scheduler's.
func (p *pe) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	s := p.s
	c, cancel := context.WithCancelCause(ctx)
	pending := true
	o := s.callOp(p, callDeadline, func() {
		pending = false
		cancel(context.DeadlineExceeded)
		s.cancelled = true
		s.checkFragile()
	})
	s.at(s.now+s.running.lag+picos(d), o)
	return timeout{c}, func() {
		if pending && s.exploring() {
			s.explorer.drop(o)
		}
		pending = false
		cancel(context.Canceled)
		s.cancelled = true
	}
}

// timeout is a context that ends by the virtual clock.
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

// Times inside are picoseconds: a byte takes less than a nanosecond on many wires.

func picos(d time.Duration) int64 { return int64(d) * 1000 }

func duration(at int64) time.Duration { return time.Duration(at / 1000) }
