package network

// Operations as events of the engine, and what is prefetched for them. Package engine says why.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/sim/internal/prefetch"
)

// OpOf returns the operation that begins with ev.
func OpOf(ev *engine.Event) *Op { return (*Op)(unsafe.Pointer(ev)) }

// Happen implements engine.Model: it makes the operation of ev go through the phase that it has reached.
func (net *Network) Happen(ev *engine.Event) *engine.Task {
	o := OpOf(ev)
	switch o.phase {
	case arriving:
		return net.arrive(o)
	case applying, writing, signalling, notifying:
		return net.Effect(o)
	}
	if o.phase == replying {
		return net.replyArrived(o)
	}
	return net.complete(o)
}

// Prefetch implements engine.Model: it prefetches what the next phase of the operation of ev reads, and returns the
// task that may go on then.
func (net *Network) Prefetch(stage engine.Stage, ev *engine.Event) *engine.Task {
	o := OpOf(ev)
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
func (o *Op) prefetchWords() {
	switch {
	case o.phase < applying:
		prefetch.Lines(uintptr(unsafe.Pointer(o.to.host)), 1)
	case o.phase < replying:
		prefetch.Lines(uintptr(unsafe.Pointer(unsafe.SliceData(o.to.heap)))+uintptr(o.off), 1)
	case o.nic:
		prefetch.Lines(uintptr(unsafe.Pointer(o.from.host)), 1)
	}
}
