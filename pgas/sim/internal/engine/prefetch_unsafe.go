package engine

// Prefetching. With thousands of PEs nothing that an event touches is in a cache, and the addresses form a chain:
// from the event to its PE, to its task, to the task's stack. So the engine prefetches for the next events, the
// first links of the chain for those further ahead. Prefetching changes no result.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/sim/internal/prefetch"
)

// CachedPEs are about as many PEs as fit into the caches.
const CachedPEs = 256

// Stage is how far a chain of addresses is known.
type Stage uint8

// The stages of prefetching for an event, the first one first.
const (
	StagePEs   Stage = iota // what is in the event
	StageWords              // what is in its PEs and in its task
	StageStack              // all of it
)

// The prefetch distances of the stages, in events.
const (
	distanceEvent = 7
	distancePEs   = 5
	distanceWords = 3
	distanceStack = 2
)

// A switchPoint is where a task has stopped.
type switchPoint struct {
	goroutine uintptr // address of the runtime's record of the task's goroutine
	stack     uintptr // stack pointer of the task
}

const (
	belowStack  = 5 * 64 // what a switch needs of the stack below
	switchLines = 5 + 14 // that, and the frames of the calls that led to it
)

// hotLines is how many lines are prefetched for a PE whose task goes on.
const hotLines = 17

// peLines is how many lines of a PE are prefetched. A PE that is part of a larger object begins within the first line
// of that object.
const peLines = 2 + (hotLines+7)/8

// SetHotLines names the addresses of the lines that the tasks of p read when they go on. It returns for how many
// there is no room. If there is more room, the first line is prefetched again.
func (p *PE) SetHotLines(lines []uintptr) (left int) {
	for i := range p.hotLines {
		p.hotLines[i] = lines[0]
	}
	return len(lines) - copy(p.hotLines[:], lines)
}

// save records where the running task stops.
func (s *switchPoint) save() {
	var here byte
	s.goroutine = prefetch.CurrentG()
	s.stack = uintptr(unsafe.Pointer(&here)) - belowStack
}

// stackColors is the number of offsets at which bodies begin on their stacks. Stacks begin at the same offset of a
// page, and data at the same offset of pages competes for the same lines of a cache.
const stackColors = 16

// descend calls f with its stack further down, by a few lines for each of n.
//
//go:noinline
func descend(n int, f func()) (last byte) {
	var room [224]byte
	if n == 0 {
		f()
		return room[0]
	}
	last = descend(n-1, f)
	return last + room[n]
}

// prefetch prefetches what ev needs, as far as it is known at stage s. It returns the task that may go on, if any.
func (e *Engine) prefetch(s Stage, ev *Event) *Task {
	if ev.kind == object {
		return e.model.Prefetch(s, ev)
	}
	return ev.task
}

// prefetchNext prefetches what the next events need.
func (e *Engine) prefetchNext() {
	next := e.queue.next[e.queue.head:]
	if len(next) > distanceEvent {
		prefetch.Lines(uintptr(unsafe.Pointer(next[distanceEvent].event)), 2)
	}
	if len(next) > distancePEs {
		if t := e.prefetch(StagePEs, next[distancePEs].event); t != nil {
			prefetch.Lines(uintptr(unsafe.Pointer(t)), 3)
			prefetch.Lines(uintptr(unsafe.Pointer(t.pe)), peLines)
		}
	}
	if len(next) > distanceWords {
		if t := e.prefetch(StageWords, next[distanceWords].event); t != nil {
			prefetch.Lines(t.switchPoint.goroutine, 5)
			prefetch.Each(&t.pe.hotLines[0], hotLines)
		}
	}
	if len(next) > distanceStack {
		if t := e.prefetch(StageStack, next[distanceStack].event); t != nil {
			prefetch.Lines(t.switchPoint.stack, switchLines)
		}
	}
}
