package sim

// What is prefetched of PEs and operations. Package engine says why.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/sim/internal/prefetch"
)

// recordHotLines records the lines that the operations of p read, once its World is open: the first lines of its
// channel and of its World, and those of the World's objects. It returns for how many there is no room.
func (p *pe) recordHotLines() (left int) {
	objects, remote := private.HotLines(p.world)
	world := uintptr(unsafe.Pointer(p.world))
	lines := []uintptr{uintptr(unsafe.Pointer(remote.(*channel))), world, world + 64, world + 128}
	return p.SetHotLines(append(lines, objects...))
}

// opOf returns the operation that begins with ev.
func opOf(ev *engine.Event) *op { return (*op)(unsafe.Pointer(ev)) }

// Prefetch implements engine.Model: it prefetches what the next phase of the operation of ev reads, and returns the
// task that may go on then.
func (s *sim) Prefetch(stage engine.Stage, ev *engine.Event) *engine.Task {
	o := opOf(ev)
	switch stage {
	case engine.StagePEs:
		if o.phase < replying {
			prefetch.Lines(uintptr(unsafe.Pointer(o.to)), 1)
		}
	case engine.StageWords:
		o.prefetchWords()
	}
	if o.phase >= replying || !o.nic {
		return o.Task()
	}
	return nil
}

// prefetchWords prefetches what the next phase of o reads, besides the operation and its PEs.
func (o *op) prefetchWords() {
	switch {
	case o.phase < applying:
		prefetch.Lines(uintptr(unsafe.Pointer(o.to.host)), 1)
	case o.phase < replying:
		prefetch.Lines(uintptr(unsafe.Pointer(unsafe.SliceData(o.to.heap)))+uintptr(o.off), 1)
	case o.nic:
		prefetch.Lines(uintptr(unsafe.Pointer(o.from.host)), 1)
	}
}
