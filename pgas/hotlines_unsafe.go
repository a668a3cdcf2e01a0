package pgas

// What an operation reads of the objects of its PE. The simulator runs thousands of PEs in turn, of which nothing is in a
// cache when they go on, so it prefetches these lines. Reading them one after the other, each at the end of a chain of
// pointers, would take longer than all else that an operation does.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/transport"
)

// lineBytes is the size of a cache line.
const lineBytes = 64

func init() {
	private.HotLines = func(world any) ([]uintptr, transport.Channel) { return world.(*World).hotLines() }
}

// hotLines returns the addresses of the lines, and the channel of the default context.
func (w *World) hotLines() (lines []uintptr, remote transport.Channel) {
	c := w.defaultCtx
	add := func(p unsafe.Pointer, bytes uintptr) {
		end := uintptr(p) + bytes
		for at := uintptr(p) &^ (lineBytes - 1); at < end; at += lineBytes {
			lines = append(lines, at)
		}
	}
	add(unsafe.Pointer(c), unsafe.Sizeof(*c))
	add(unsafe.Pointer(c.team), unsafe.Sizeof(c.team.w)+unsafe.Sizeof(c.team.g))
	add(unsafe.Pointer(c.team.g), unsafe.Offsetof(coll.Group{}.Me))
	add(unsafe.Pointer(&w.coherent), unsafe.Sizeof(w.coherent))
	if c.remote == nil {
		return lines, nil
	}
	add(unsafe.Pointer(c.remote), unsafe.Offsetof(c.remote.landings))
	return lines, c.remote.unrecorded
}
