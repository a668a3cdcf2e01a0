package engine

import "unsafe"

// An Event is something that happens at a time. Objects of packages above are events if they begin with one: the Model
// makes them happen.
type Event struct {
	task       *Task
	generation uint32 // generation of the task at the time of SetTask
	kind       kind
}

// kind is what is behind an event.
type kind uint8

const (
	object kind = iota // an object of a package above
	resumption
	call
)

// SetTask makes ev the event that t waits for from now on.
func (ev *Event) SetTask(t *Task) {
	t.expect()
	ev.task, ev.generation = t, t.generation
}

// ClearTask makes ev an event that no task waits for.
func (ev *Event) ClearTask() { ev.task = nil }

// Task returns the task that waits for ev, or nil.
func (ev *Event) Task() *Task { return ev.task }

// Awaited reports whether the task of ev still waits for ev.
func (ev *Event) Awaited() bool { return !ev.task.ended && ev.task.generation == ev.generation }

// eventBatch is how many resumptions are allocated at once.
const eventBatch = 64

// newResumption returns an event that resumes t, unless t has waited for something else by then.
func (e *Engine) newResumption(t *Task) *Event {
	if len(e.free) == 0 {
		more := make([]Event, eventBatch)
		for i := range more {
			more[i].kind = resumption
			e.free = append(e.free, &more[i])
		}
	}
	ev := e.free[len(e.free)-1]
	e.free = e.free[:len(e.free)-1]
	ev.task, ev.generation = t, t.generation
	return ev
}

// happen makes ev happen, which is of the engine, and returns the task that goes on now, if any.
func (e *Engine) happen(ev *Event) *Task {
	if c := CallOf(ev); c != nil {
		c.f()
		return nil
	}
	t := ev.task
	stale := !ev.Awaited()
	e.free = append(e.free, ev)
	if stale {
		return nil
	}
	return t
}

// Purpose is what a Call does. An Order tells calls apart by it.
type Purpose uint64

// The purposes of the engine's own calls. Those of other packages begin at OtherPurpose.
const (
	Wake     Purpose = iota + 1 // a sleep ends
	Deadline                    // a context of WithTimeout ends
	OtherPurpose
)

// A Call is the event that a function is called.
type Call struct {
	Event
	PE      *PE // the PE that the call concerns
	Purpose Purpose
	Serial  int32 // for an Order: the number of the call among those of its PE
	f       func()
}

// NewCall returns a call of f.
func NewCall(p *PE, purpose Purpose, f func()) *Call {
	return &Call{Event: Event{kind: call}, PE: p, Purpose: purpose, f: f}
}

// CallOf returns the Call of which ev is the event, or nil.
func CallOf(ev *Event) *Call {
	if ev.kind != call {
		return nil
	}
	return (*Call)(unsafe.Pointer(ev))
}

// Happen calls the function of c.
func (c *Call) Happen() { c.f() }
