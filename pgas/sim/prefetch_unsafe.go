package sim

// Prefetching. With thousands of PEs nothing that an event touches is in a cache, and the addresses form a chain:
// from the operation to its PE, to its task, to the task's stack. So the engine prefetches for the next events, the
// first links of the chain for those further ahead. Prefetching changes no result.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/private"
)

// cachedPEs are about as many PEs as fit into the caches.
const cachedPEs = 256

// The prefetch distances, in events.
const (
	distanceOps   = 7
	distancePEs   = 5
	distanceWords = 3
	distanceStack = 2
)

// A switchPoint is where a task has stopped.
type switchPoint struct {
	goroutine uintptr
	stack     uintptr // its stack pointer
}

const (
	belowStack  = 5 * 64 // what a switch needs of the stack below
	switchLines = 5 + 14 // that, and the frames of the calls that led to it
)

// hotLines is how many lines of its World's objects and of its channel are prefetched for a PE.
const hotLines = 14

// recordHotLines records the lines that the operations of p read, once its World is open: those of its channel, then
// those of the World's objects. If they are fewer than hotLines, the first is prefetched again.
func (p *pe) recordHotLines() {
	lines, remote := private.HotLines(p.world)
	for i := range p.hotLines {
		p.hotLines[i] = uintptr(unsafe.Pointer(remote.(*channel)))
	}
	copy(p.hotLines[1:], lines)
}

// peLines is how many lines of a pe are prefetched: two, and those of its hotLines.
const peLines = 2 + (hotLines+7)/8

// saveSwitchPoint records where the running task t stops.
func (t *task) saveSwitchPoint() {
	if t.pe.s.exceedsCache {
		var here byte
		at := uintptr(unsafe.Pointer(&here))
		t.switchPoint.goroutine = currentG()
		t.switchPoint.stack = at - belowStack
	}
}

// stackColors is the number of offsets at which bodies begin on their stacks. Stacks begin at the same offset of a
// page, and data at the same offset of pages competes for the same lines of a cache.
const stackColors = 16

// runAtColor calls f with its stack further down, by a few lines for each color.
func (t *task) runAtColor(color int, f func()) {
	if t.pe.s.exceedsCache {
		descend(color, f)
		return
	}
	f()
}

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

// prefetchNext prefetches what the next events need.
func (s *sim) prefetchNext() {
	next := s.queue.next[s.queue.head:]
	if len(next) > distanceOps {
		prefetchLines(uintptr(unsafe.Pointer(next[distanceOps].op)), 2)
	}
	if len(next) > distancePEs {
		s.prefetchPEs(next[distancePEs].op)
	}
	if len(next) > distanceWords {
		s.prefetchWords(next[distanceWords].op)
	}
	if len(next) > distanceStack {
		if o := next[distanceStack].op; o.mayResume() {
			prefetchLines(o.task.switchPoint.stack, switchLines)
		}
	}
}

// mayResume reports whether the event of o may resume its task.
func (o *op) mayResume() bool {
	return o.task != nil && (o.kind == opResume || o.phase >= replying || !o.nic)
}

func (s *sim) prefetchPEs(o *op) {
	if o.mayResume() {
		prefetchLines(uintptr(unsafe.Pointer(o.task)), 3)
		prefetchLines(uintptr(unsafe.Pointer(o.task.pe)), peLines)
	}
	if o.kind >= opPut && o.phase < replying {
		prefetchLines(uintptr(unsafe.Pointer(o.to)), 1)
	}
}

func (s *sim) prefetchWords(o *op) {
	if o.mayResume() {
		prefetchLines(o.task.switchPoint.goroutine, 5)
		p := o.task.pe
		prefetchLines(uintptr(unsafe.Pointer(p.world)), 3)
		prefetchEach(&p.hotLines[0], hotLines)
	}
	switch {
	case o.kind < opPut:
	case o.phase < applying:
		prefetchLines(uintptr(unsafe.Pointer(o.to.host)), 1)
	case o.phase < replying:
		prefetchLines(uintptr(unsafe.Pointer(unsafe.SliceData(o.to.heap)))+uintptr(o.off), 1)
	case o.nic:
		prefetchLines(uintptr(unsafe.Pointer(o.from.host)), 1)
	}
}
