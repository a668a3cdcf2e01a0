package sim

// Foresight. With thousands of PEs nothing that an event touches is in a cache, and each thing leads to the
// next: from the operation to its PE, to its task, to the task's stack. So the next events are looked at
// while there is time, those that are further away for what leads to the rest. Nothing here changes what
// happens.

import "unsafe"

// manyPEs do not fit into the caches.
const manyPEs = 256

// How many events ahead is looked.
const (
	forOps   = 7
	forPEs   = 5
	forWords = 3
	forStack = 2
)

// A trail is what a task leaves where it stops.
type trail struct {
	goroutine uintptr
	stack     uintptr // how far down it has got
}

const (
	below      = 5 * 64 // what a switch needs of the stack below
	trailLines = 5 + 14 // and that, and the calls that led there
)

// leaves notes where the running task t stops.
func (t *task) leaves() {
	if t.pe.s.many {
		var here byte
		at := uintptr(unsafe.Pointer(&here))
		t.trail.goroutine = goroutine()
		t.trail.stack = at - below
	}
}

// stackColors is how many places bodies begin at: stacks begin at the same place of a page, and what is at
// the same place of pages competes for the same lines of a cache.
const stackColors = 16

// at calls f with its stack a few lines further down.
func (t *task) at(color int, f func()) {
	if t.pe.s.many {
		lower(color, f)
		return
	}
	f()
}

//go:noinline
func lower(n int, f func()) (last byte) {
	var room [224]byte
	if n == 0 {
		f()
		return room[0]
	}
	last = lower(n-1, f)
	return last + room[n]
}

// foresee brings to the cache what the next events need.
func (s *sim) foresee() {
	next := s.queue.next[s.queue.head:]
	if len(next) > forOps {
		prefetch(uintptr(unsafe.Pointer(next[forOps].op)), 2)
	}
	if len(next) > forPEs {
		s.foreseePEs(next[forPEs].op)
	}
	if len(next) > forWords {
		s.foreseeWords(next[forWords].op)
	}
	if len(next) > forStack {
		if o := next[forStack].op; o.resumes() {
			prefetch(o.task.trail.stack, trailLines)
		}
	}
}

// resumes says that o's event may be one with which its task goes on.
func (o *op) resumes() bool {
	return o.task != nil && (o.kind == opResume || o.phase >= returns || !o.nic)
}

func (s *sim) foreseePEs(o *op) {
	if o.resumes() {
		prefetch(uintptr(unsafe.Pointer(o.task)), 3)
		prefetch(uintptr(unsafe.Pointer(o.task.pe)), 2)
	}
	if o.kind >= opPut && o.phase < returns {
		prefetch(uintptr(unsafe.Pointer(o.to)), 1)
	}
}

func (s *sim) foreseeWords(o *op) {
	if o.resumes() {
		prefetch(o.task.trail.goroutine, 5)
		prefetch(uintptr(unsafe.Pointer(o.task.pe.world)), 3)
	}
	switch {
	case o.kind < opPut:
	case o.phase < takes:
		prefetch(uintptr(unsafe.Pointer(o.to.host)), 1)
	case o.phase < returns:
		prefetch(uintptr(unsafe.Pointer(unsafe.SliceData(o.to.heap)))+uintptr(o.off), 1)
	case o.nic:
		prefetch(uintptr(unsafe.Pointer(o.from.host)), 1)
	}
}
