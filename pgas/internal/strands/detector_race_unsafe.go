//go:build race && (amd64 || arm64)

package strands

// The functions of the race detector. The detector sees no load or store in a function with the directive norace, and
// no order by atomics and locks between hide and show.

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// A clock is what some goroutines have done, for others to be ordered after it.
type clock struct{ place uint64 }

// setTo makes c what the calling goroutine has done so far.
//
//go:norace
func (c *clock) setTo() { runtime.RaceRelease(unsafe.Pointer(&c.place)) }

// add adds to c what the calling goroutine has done so far.
//
//go:norace
func (c *clock) add() { runtime.RaceReleaseMerge(unsafe.Pointer(&c.place)) }

// follow orders the calling goroutine after what c has.
//
//go:norace
func (c *clock) follow() { runtime.RaceAcquire(unsafe.Pointer(&c.place)) }

// acquireFrom orders the calling goroutine after those that have updated an atomic word.
//
//go:norace
func acquireFrom(word []byte) { runtime.RaceAcquire(unsafe.Pointer(unsafe.SliceData(word))) }

// reads tells the detector that the calling goroutine reads b.
//
//go:norace
func reads(b []byte) {
	if len(b) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	}
}

// writes tells the detector that the calling goroutine writes b.
//
//go:norace
func writes(b []byte) {
	if len(b) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	}
}

// hide begins atomics and locks of the calling goroutine in which the detector sees no order, until show.
//
//go:norace
func hide() { runtime.RaceDisable() }

// show ends what hide has begun.
//
//go:norace
func show() { runtime.RaceEnable() }

// addressOf returns the addresses of b as a span.
//
//go:norace
func addressOf(b []byte) span {
	lo := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	return span{lo, lo + uint64(len(b))}
}

// move copies src to dst, which is as long, unseen by the detector.
//
//go:norace
func move(dst, src []byte) {
	memmove(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), uintptr(len(src)))
}

// pageBytes is at most the size of a page.
const pageBytes = 4096

// touch reads a byte of each page of b, unseen by the detector, and returns what it has read. So the calling goroutine
// faults if b has been freed, and not a strand: the PE can say what is wrong.
//
//go:norace
func touch(b []byte) (read byte) {
	for i := 0; i < len(b); i += pageBytes {
		read ^= b[i]
	}
	if len(b) > 0 {
		read ^= b[len(b)-1]
	}
	return read
}

// set stores v in an atomic word. To the detector those that see v come after the calling goroutine, and after nothing
// else that has updated the word.
//
//go:norace
func set(word []byte, v uint64) {
	p := unsafe.Pointer(unsafe.SliceData(word))
	if len(word) == 4 {
		atomic.StoreUint32((*uint32)(p), uint32(v))
		return
	}
	atomic.StoreUint64((*uint64)(p), v)
}

// set sets s to the calling goroutine's stack without its three innermost frames: those of set, of its caller and of
// the caller's caller.
//
//go:norace
//go:nocheckptr
func (s *stack) set() {
	const skipped = 3
	s.n = 0
	frame := framePointer()
	for i := 0; frame != nil && s.n < maxFrames; i++ {
		if i >= skipped {
			s.pcs[s.n] = *(*uintptr)(unsafe.Add(frame, unsafe.Sizeof(frame)))
			s.n++
		}
		frame = *(*unsafe.Pointer)(frame)
	}
}

// framePointer returns where the frame of the call of framePointer keeps the frame pointer of its caller, behind which
// it keeps the address that it returns to.
func framePointer() unsafe.Pointer

//go:linkname memmove runtime.memmove
//go:noescape
func memmove(to, from unsafe.Pointer, n uintptr)

// enterFrame puts the frame of a call that returns to pc on the stack that the detector has for the calling goroutine.
//
//go:linkname enterFrame runtime.racefuncenter
func enterFrame(pc uintptr)

// leaveFrame takes the last frame from that stack.
//
//go:linkname leaveFrame runtime.racefuncexit
func leaveFrame()
