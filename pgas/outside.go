package pgas

// The way to other hosts for C that must not wait for Go, such as the pager of coherent memory.

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Outside opens a way to the symmetric heaps of all PEs of other hosts, for one thread that is not Go's: one that must not
// wait for Go, because Go may wait for it, as the pager of coherent memory. address is that of a struct outside, whose
// functions are described in ucx/engine/outside.h. It is 0 if every PE is reached by memory that this PE maps. The first
// messages to all these PEs leave before Outside returns; it waits for no PE.
//
// close ends a call of the thread that is under way and closes the way; it may be called again. Calls of the thread after
// that return -1 until the World is closed. A World that closes closes the way too, so the thread must have ended by then:
// AtClose can end it. Outside returns an error if the transport has no such way (the simulator has none), if the way
// cannot be opened, or if the World is closed. It panics with *UsageError if w is nil.
func (w *World) Outside() (address uintptr, close func() error, err error) {
	w.mustBeOpen("World.Outside")
	if w.n.Closed.Load() {
		return 0, nil, fmt.Errorf("World.Outside: %w", w.n.EndedError(w.n.Ctx))
	}
	var remote []int
	for pe := range w.NPEs() {
		if w.n.Shm.Heap(pe) == nil {
			remote = append(remote, pe)
		}
	}
	if len(remote) == 0 {
		return 0, func() error { return nil }, nil
	}
	t, ok := w.n.Remote.(transport.Outsider)
	if !ok {
		return 0, nil, fmt.Errorf("World.Outside: transport %s to other hosts has no way for a thread that is not Go's", w.n.Remote.Name())
	}
	return t.Outside(remote)
}

// Offset returns where the range starts in the symmetric heap of every PE, in bytes, for threads that are not Go's. The
// zero Slice has offset 0. Where accesses are checked, Offset panics with *UsageError if the memory was freed.
func (s Slice[T]) Offset() uint64 {
	if s.ctx.isNothing("Offset", s.n) {
		return 0
	}
	return s.ctx.place("Offset", s.off, uintptr(s.n)*node.SizeOf[T]())
}
