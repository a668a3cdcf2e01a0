package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// Reason is the reason for which a task goes on. An Order tells tasks apart by it.
type Reason uint64

// The reasons of the engine. Those of other packages are from OtherReason to Waited, excluded.
const (
	Yielded     Reason = iota + 1
	Created                // it begins
	Slept                  // its sleep has ended, or the context of its wait
	OtherReason            // the first reason of other packages
	Waited      Reason = 7 // the condition of its wait holds; the higher bits are a digest of the words that it reads
)

// An Order decides what happens next, in place of time.
type Order interface {
	// Next makes events happen until a task goes on and returns the task. It returns nil if the run has ended, or if
	// HandlerDied holds.
	Next() *Task
	// Add adds an event that may happen from now on.
	Add(*Event)
	// Remove takes an event back, if it has not happened.
	Remove(*Event)
	// Resume says that t may go on from now on.
	Resume(t *Task, why Reason)
	// Created says that the running task has created t.
	Created(t *Task)
	// WaitBegins says that a task of p begins to wait for words from lo to hi of its heap.
	WaitBegins(p *PE, lo, hi uint64)
	// WaitEnds says that a wait of t has ended.
	WaitEnds(t *Task)
	// ReadsHeap says that the running task, which is of p, reads words of its heap or changes them.
	ReadsHeap(p *PE)
}

// A Model is what tasks do to each other: the package above.
type Model interface {
	// Happen makes the event of an object of the model happen and returns the task that goes on now, if any.
	Happen(*Event) *Task
	// Prefetch prefetches what Happen will read, as far as it is known at stage s. It returns the task that Happen may
	// return, if any.
	Prefetch(s Stage, ev *Event) *Task
	// WakeTime returns how long a task takes to notice that its wait is over.
	WakeTime() int64
	// PollTime returns how long one poll takes.
	PollTime() int64
	// Idle is called when no event is left. It reports whether there is something to go on with.
	Idle() bool
	// Deadlock returns the error of a run in which no task can go on.
	Deadlock() error
}

// Config is what an engine is told of a run.
type Config struct {
	Context   context.Context // ends the run
	MaxEvents uint64          // ends a run that does not end itself
}

// Engine is one run.
type Engine struct {
	model      Model
	config     Config
	pes        []*PE
	order      Order // nil: events happen at their times
	now        int64 // picoseconds since the beginning
	running    *Task // the task that runs
	handler    *Task // the task on whose stack events are handled; nil: the stack of Run
	next       *Task // the task that Run resumes next
	liveTasks  int   // tasks that have not ended
	events     uint64
	checkAt    uint64    // how many events there are when checkEvents is called next
	planned    []planned // in the order of their events
	prefetches bool      // the PEs are more than the CPU's caches hold
	free       []*Event  // resumptions that are not scheduled

	cancellable     []*Task // tasks that wait with a context that may end
	nextCancellable int     // index in cancellable of the one that was checked last
	cancelled       bool    // one of their contexts has ended
	stallReported   bool    // all waits have been told of a stall, and none has ended since

	failed *PE // the PE that has found err, or nil
	err    error

	queue queue[Event]
}

// PE is the tasks of one PE. Its first line of 64 bytes has what events of other PEs read, the next ones what its own
// tasks read when they go on.
type PE struct {
	waiting []*Task // tasks that wait
	engine  *Engine

	tasks        []*Task
	random       Random
	delayedUntil int64 // time before which it computes nothing
	ID           int   // number of the PE
	hotLines     [hotLines]uintptr
}

// A Task is a thread of control of a PE: its body, or a function that Go has started.
type Task struct {
	pe         *PE
	generation uint32 // how many waits it has begun and ended
	Elapsed    int64  // virtual time that it has used since it was resumed
	resume     func() (struct{}, bool)
	pause      func(struct{}) bool
	err        error // error of its last wait
	killed     bool
	ended      bool
	waiting    bool
	number     int32 // index among its PE's tasks

	wait        wait  // the wait under way
	busyUntil   int64 // while it is parked: time before which it is not resumed
	stop        func()
	switchPoint switchPoint
}

// Init makes e an engine of model m, without PEs.
func (e *Engine) Init(m Model, c Config) { e.model, e.config = m, c }

// Add adds p, whose number is ID, in the order of the numbers. Its random numbers follow from seed.
func (e *Engine) Add(p *PE, seed uint64) {
	p.engine, p.random = e, Random(seed)
	e.pes = append(e.pes, p)
}

// Prefetch selects whether memory is prefetched for the next events, which pays from CachedPEs on.
func (e *Engine) Prefetch(on bool) {
	e.prefetches, e.queue.lookahead = on, 0
	if on {
		e.queue.lookahead = distanceEvent
	}
}

// Prefetches reports whether memory is prefetched for the next events.
func (e *Engine) Prefetches() bool { return e.prefetches }

// Now returns the virtual time since the beginning, in picoseconds.
func (e *Engine) Now() int64 { return e.now }

// Events returns how many events have happened.
func (e *Engine) Events() uint64 { return e.events }

// LiveTasks returns how many tasks have not ended.
func (e *Engine) LiveTasks() int { return e.liveTasks }

// Begin gives the decision what happens next to o. No event may be left. From now on the clock counts steps.
func (e *Engine) Begin(o Order) { e.order, e.now = o, 0 }

// Ordered reports whether an Order decides what happens next.
func (e *Engine) Ordered() bool { return e.order != nil }

// Step counts an event of an Order, which takes 1 ns.
func (e *Engine) Step() {
	e.now += 1000
	if e.events++; e.events > e.config.MaxEvents {
		e.checkLimits()
	}
}

// PE returns the PE of t.
func (t *Task) PE() *PE { return t.pe }

// Number returns the index of t among the tasks of its PE.
func (t *Task) Number() int32 { return t.number }

// Ended reports whether t has ended.
func (t *Task) Ended() bool { return t.ended }

// expect begins a wait of t.
func (t *Task) expect() {
	t.generation++
	t.err = nil
}

// Err returns the error of the last wait of t.
func (t *Task) Err() error { return t.err }

// Tasks returns the tasks of p.
func (p *PE) Tasks() []*Task { return p.tasks }

// Waiting returns the tasks of p that wait.
func (p *PE) Waiting() []*Task { return p.waiting }

// Delay makes p compute nothing until the time at.
func (p *PE) Delay(at int64) { p.delayedUntil = at }

// Start makes a task of p that runs f.
func (e *Engine) Start(p *PE, f func()) { e.ResumeAt(e.newTask(p, f), 0, Created) }

// newTask makes a task that runs f once it is resumed.
func (e *Engine) newTask(p *PE, f func()) *Task {
	t := &Task{pe: p, number: int32(len(p.tasks))}
	t.resume, t.stop = iter.Pull(func(pause func(struct{}) bool) {
		t.pause = pause
		defer t.exited()
		if e.prefetches {
			descend(p.ID%stackColors, f)
			return
		}
		f()
	})
	p.tasks = append(p.tasks, t)
	e.liveTasks++
	return t
}

// killedError unwinds the stack of a task that is killed.
type killedError struct{}

// exited records how a task ended.
func (t *Task) exited() {
	t.ended = true
	e := t.pe.engine
	e.liveTasks--
	switch p := recover().(type) {
	case nil, killedError:
	default:
		e.Fail(t.pe, panicError(p))
	}
	if !t.killed {
		t.pe.Recheck()
	}
}

// panicError returns the error of a run in which a task has panicked with p.
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

// Run runs tasks until none is left, or none can go on.
func (e *Engine) Run() {
	for t := e.nextTask(); t != nil; t = e.next {
		e.next, e.running = nil, t
		if _, more := t.resume(); !more || e.prefetches {
			e.next = e.nextTask()
		}
	}
	for _, p := range e.pes {
		p.Kill()
	}
}

// Live reports whether a task of p has not ended.
func (p *PE) Live() bool {
	for _, t := range p.tasks {
		if !t.ended {
			return true
		}
	}
	return false
}

// Kill ends the tasks of p at the point where they are. A task that handles the event of its own death ends after the
// event: it cannot stop itself.
func (p *PE) Kill() {
	e := p.engine
	was := e.running
	for _, t := range p.tasks {
		if !t.ended {
			t.killed = true
			if t == e.handler {
				continue
			}
			e.running = t
			t.stop()
			if !t.ended { // it had not been resumed yet
				t.ended = true
				e.liveTasks--
			}
		}
	}
	e.running = was
}

// Park passes control on and returns when t, the running task, is resumed.
func (t *Task) Park() {
	e := t.pe.engine
	if t.killed {
		panic(killedError{})
	}
	if len(t.pe.tasks) > 1 {
		t.pe.Recheck()
	}
	if len(e.cancellable) > 0 {
		e.checkCancelled()
	}
	if !e.prefetches {
		e.handler = t
		e.next = e.nextTask()
		e.handler = nil
		if t.killed {
			panic(killedError{})
		}
		if e.next == t {
			e.next, e.running = nil, t
			return
		}
	} else {
		t.switchPoint.save()
	}
	if !t.yieldControl() {
		t.killed = true
		panic(killedError{})
	}
	e.running = t
}

// Running returns the task that runs. A killed one panics and so gets no further.
func (e *Engine) Running() *Task {
	t := e.running
	if t.killed {
		panic(killedError{})
	}
	return t
}

// Running returns the task of p that runs, which is the caller.
func (p *PE) Running() *Task {
	t := p.engine.Running()
	if t.pe != p {
		panicForeign()
	}
	return t
}

// yieldControl passes control to Run and returns when t is resumed. It reports false if t is to end.
func (t *Task) yieldControl() bool {
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

// HandlerDied reports whether the task that handles events is to end. Then Run handles those that follow.
func (e *Engine) HandlerDied() bool { return e.handler != nil && e.handler.killed }

// nextTask handles events until a task is to be resumed, and returns it. It returns nil if no task can go on, or if the
// task that has called it has died.
func (e *Engine) nextTask() *Task {
	for e.err == nil {
		if e.order != nil {
			return e.order.Next()
		}
		if e.events >= e.checkAt {
			e.checkEvents()
			if e.HandlerDied() {
				return nil
			}
			continue
		}
		at, ev := e.queue.pop()
		if ev == nil {
			if e.model.Idle() {
				continue
			}
			if e.liveTasks == 0 || !e.resolveStall() {
				return nil
			}
			continue
		}
		e.now = at
		if e.prefetches {
			e.prefetchNext()
		}
		e.events++
		var t *Task
		if ev.kind == object {
			t = e.model.Happen(ev)
		} else {
			t = e.happen(ev)
		}
		if t != nil {
			if t.pe.delayedUntil > e.now {
				t.generation++
				e.ResumeAt(t, t.pe.delayedUntil, 0)
				continue
			}
			return t
		}
		if e.HandlerDied() {
			return nil
		}
	}
	return nil
}

// checkLimits ends the run if it has had too many events, or if its context has ended.
func (e *Engine) checkLimits() {
	if err := e.config.Context.Err(); err != nil && e.err == nil {
		e.err = fmt.Errorf("the run was ended after %v of its time: %w", Duration(e.now), err)
	}
	if most := e.config.MaxEvents; most > 0 && e.events > most {
		e.Fail(nil, fmt.Errorf("no end after %s, at %v: livelock?", plural.Count(e.events, "event"), Duration(e.now)))
	}
}

// checkedEvents is after how many events the limits are checked.
const checkedEvents = 1 << 14

// checkEvents does what is due after as many events as have happened.
func (e *Engine) checkEvents() {
	if e.events > 0 && e.events%checkedEvents == 0 {
		e.checkLimits()
	}
	for len(e.planned) > 0 && e.planned[0].after <= e.events {
		f := e.planned[0].f
		e.planned = e.planned[1:]
		f()
	}
	e.checkAt = (e.events/checkedEvents + 1) * checkedEvents
	if len(e.planned) > 0 {
		e.checkAt = min(e.checkAt, e.planned[0].after)
	}
}

// After calls f when n events have happened, in a run without an Order.
func (e *Engine) After(n uint64, f func()) {
	i, _ := slices.BinarySearchFunc(e.planned, n, func(p planned, n uint64) int { return cmp.Compare(p.after, n) })
	e.planned = slices.Insert(e.planned, i, planned{n, f})
	e.checkAt = min(e.checkAt, n)
}

// planned is a call after a number of events.
type planned struct {
	after uint64
	f     func()
}

// At makes ev happen at a time. It is Schedule for a run without an Order.
func (e *Engine) At(at int64, ev *Event) { e.queue.push(at, ev) }

// Schedule makes ev happen at a time, or when the Order chooses it.
func (e *Engine) Schedule(at int64, ev *Event) {
	if e.order != nil {
		e.order.Add(ev)
		return
	}
	e.queue.push(at, ev)
}

// ResumeAt resumes t at a time, or when the Order chooses it.
func (e *Engine) ResumeAt(t *Task, at int64, why Reason) {
	if e.order != nil {
		e.order.Resume(t, why)
		return
	}
	e.queue.push(at, e.newResumption(t))
}

// ResumeBusy resumes t, which is in ParkBusy, as soon as it is not busy any more.
func (e *Engine) ResumeBusy(t *Task, why Reason) { e.ResumeAt(t, max(e.now, t.busyUntil), why) }

// FailWait ends the wait of t for an event with err.
func (e *Engine) FailWait(t *Task, err error, why Reason) {
	t.err = err
	t.generation++
	e.ResumeAt(t, e.now, why)
}

// ParkBusy parks t until ResumeBusy, and at least for the time that t has used.
func (t *Task) ParkBusy() {
	t.expect()
	t.setBusy()
	t.Park()
}

// setBusy turns the time that t has used into the time until which it is busy, before t is parked.
func (t *Task) setBusy() {
	t.busyUntil = t.pe.engine.now + t.Elapsed
	t.Elapsed = 0
}

// Advance lets d pass for the running task t.
func (e *Engine) Advance(t *Task, d int64) {
	t.generation++
	e.ResumeAt(t, e.now+t.Elapsed+d, Yielded)
	t.Elapsed = 0
	t.Park()
}

// Fail ends the run with err, which p has found, or no PE if p is nil.
func (e *Engine) Fail(p *PE, err error) {
	if e.err == nil {
		e.failed, e.err = p, err
	}
}

// Err returns the error of the run, or nil.
func (e *Engine) Err() error { return e.err }

// Failed returns the PE that has found the error of the run, or nil.
func (e *Engine) Failed() *PE { return e.failed }
