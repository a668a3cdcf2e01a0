package sim

// The engine. Every PE is a coroutine, and one of them runs at a time. It runs until it must wait. Then it handles
// events in the order of their times until some coroutine can go on, and
// passes control to that one. If it is the coroutine itself, no switch is needed.

import (
	"errors"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// A task is a thread of control of a PE: its body, or a function that its World has started.
type task struct {
	pe         *pe
	generation uint64
	elapsed    int64 // virtual time that it has used since it was resumed
	resume     func() (struct{}, bool)
	pause      func(struct{}) bool
	err        error // the error of its last wait
	killed     bool
	ended      bool
	waiting    bool
	number     int32 // index among its PE's tasks

	wait        wait  // the wait under way
	busyUntil   int64 // while it is parked: it is not resumed before that time
	stop        func()
	switchPoint switchPoint
}

// newTask makes a task that runs f once it is resumed.
func (s *sim) newTask(p *pe, f func()) *task {
	t := &task{pe: p, number: int32(len(p.tasks))}
	t.resume, t.stop = iter.Pull(func(pause func(struct{}) bool) {
		t.pause = pause
		defer t.exited()
		t.runAtColor(p.id%stackColors, f)
	})
	p.tasks = append(p.tasks, t)
	s.liveTasks++
	return t
}

// killedError unwinds the stack of a task that is killed.
type killedError struct{}

// exited records how a task ended.
func (t *task) exited() {
	t.ended = true
	s := t.pe.s
	s.liveTasks--
	switch p := recover().(type) {
	case nil, killedError:
	default:
		s.fail(t.pe, panicError(p))
	}
	if !t.killed {
		s.recheckAll(t.pe)
	}
}

func panicError(p any) error {
	if err, ok := p.(error); ok {
		var misuse *pgas.UsageError
		var peer *pgas.PeerError
		if errors.As(err, &misuse) || errors.As(err, &peer) {
			return err
		}
	}
	return fmt.Errorf("panic: %v\n%s", p, debug.Stack())
}

// run runs tasks until none is left, or none can go on.
func (s *sim) run() {
	for t := s.nextTask(); t != nil; t = s.next {
		s.next, s.running = nil, t
		if _, more := t.resume(); !more || s.exceedsCache {
			s.next = s.nextTask()
		}
	}
	for _, p := range s.pes {
		s.killTasks(p)
	}
}

// killTasks ends the tasks of p at the point where they are. A task on whose stack the death is handled ends when it
// has been: it cannot stop itself.
func (s *sim) killTasks(p *pe) {
	was := s.running
	for _, t := range p.tasks {
		if !t.ended {
			t.killed = true
			if t == s.handler {
				continue
			}
			s.running = t
			t.stop()
			if !t.ended { // it had not been resumed yet
				t.ended = true
				s.liveTasks--
			}
		}
	}
	s.running = was
}

// park passes control on and returns when the task is resumed.
func (t *task) park() {
	s := t.pe.s
	if t.killed {
		panic(killedError{})
	}
	if len(t.pe.tasks) > 1 {
		s.recheckAll(t.pe)
	}
	if len(s.cancellable) > 0 {
		s.checkCancelled()
	}
	if !s.exceedsCache {
		s.handler = t
		s.next = s.nextTask()
		s.handler = nil
		if t.killed {
			panic(killedError{})
		}
		if s.next == t {
			s.next, s.running = nil, t
			return
		}
	}
	t.saveSwitchPoint()
	if !t.yieldControl() {
		t.killed = true
		panic(killedError{})
	}
	s.running = t
}

// runningTask returns the task that runs. A killed one panics and so gets no further.
func (s *sim) runningTask() *task {
	t := s.running
	if t.killed {
		panic(killedError{})
	}
	return t
}

// runningTask returns the task of p that runs, which is the caller.
func (p *pe) runningTask() *task {
	t := p.s.runningTask()
	if t.pe != p {
		panicForeign()
	}
	return t
}

// yieldControl passes control to the engine and returns when t is resumed. It reports false if t is to end.
func (t *task) yieldControl() bool {
	defer func() {
		if p := recover(); p != nil { // package iter panics if another goroutine has passed control for t
			panicForeign()
		}
	}()
	return t.pause(struct{}{})
}

// panicForeign panics with a *pgas.UsageError, for a call from a goroutine that is not a task of the simulator.
func panicForeign() {
	panic(&pgas.UsageError{Op: "sim", Msg: "a goroutine that the program has started waits in the simulator, which runs one thread of control a PE: start it with World.Go, or test with goroutines or processes as PEs"})
}

// handlerDied reports whether the task that handles events is to end: the engine handles those that follow.
func (s *sim) handlerDied() bool { return s.handler != nil && s.handler.killed }

// nextTask handles events until a task is to be resumed, and returns it. It returns nil if no task can go on, or if the
// task that has called it has died.
func (s *sim) nextTask() *task {
	for s.err == nil {
		if s.exploring() {
			return s.explorer.next(s)
		}
		at, o := s.queue.pop()
		if o == nil {
			if s.explorer.begin(s) {
				continue
			}
			if s.liveTasks == 0 || !s.resolveStall() {
				return nil
			}
			continue
		}
		s.now = at
		if s.exceedsCache {
			s.prefetchNext()
		}
		if s.events++; s.events&(1<<14-1) == 0 {
			s.checkLimits()
		}
		if t := s.handle(o); t != nil {
			if t.pe.delayedUntil > s.now {
				t.generation++
				s.resumeAt(t, t.pe.delayedUntil, 0)
				continue
			}
			return t
		}
		if s.handlerDied() {
			return nil
		}
	}
	return nil
}

func (s *sim) checkLimits() {
	if err := s.ctx.Err(); err != nil && s.err == nil {
		s.err = fmt.Errorf("the run was ended after %v of its time: %w", duration(s.now), err)
	}
	if s.cfg.MaxEvents > 0 && s.events > s.cfg.MaxEvents {
		s.fail(nil, fmt.Errorf("no end after %s, at %v: livelock?", plural.Count(s.events, "event"), duration(s.now)))
	}
}

// resumeAt schedules t to be resumed at time at. An exploration tells the reasons apart.
func (s *sim) resumeAt(t *task, at int64, reason uint64) {
	if s.exploring() {
		s.explorer.makeRunnable(t, reason)
		return
	}
	o := s.newOp(opResume)
	o.task, o.generation = t, t.generation
	s.queue.push(at, o)
}

// setBusy turns the time that t has used into the time until which it is busy, before it is parked.
func (s *sim) setBusy(t *task) {
	t.busyUntil = s.now + t.elapsed
	t.elapsed = 0
}

// advance lets d pass for the running task t.
func (s *sim) advance(t *task, d int64) {
	t.generation++
	s.resumeAt(t, s.now+t.elapsed+d, reasonYield)
	t.elapsed = 0
	t.park()
}

// fail ends the run with err, which PE p has found.
func (s *sim) fail(p *pe, err error) {
	if s.err == nil {
		s.failedPE, s.err = p, err
	}
}
