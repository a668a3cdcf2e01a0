//go:build race && (amd64 || arm64)

package strands

// The detector keeps what it knows of a goroutine in a thread, and Go's runtime keeps the address of that thread in its
// record of the goroutine. Another address there makes the goroutine another one to the detector: the runtime does the
// same for a cleanup. So a strand is a thread, and needs no goroutine.

import (
	"sync/atomic"
	"unsafe"
)

// A thread is what the detector knows of a goroutine.
type thread uintptr

// threadAt is where the runtime's record of a goroutine has its thread, or 0 if that is not known.
var threadAt = findThread()

// threads is how many threads have begun and not ended.
var threads atomic.Int64

// newThread sets *t to a new thread, which the calling goroutine begins at pc. *t must be in the heap.
//
//go:norace
func newThread(t *thread, pc uintptr) {
	hide()
	threads.Add(1)
	show()
	racecall(&threadStart, uintptr(*threadOf(record(), threadAt)), uintptr(unsafe.Pointer(t)), pc, 0)
}

// end ends t.
//
//go:norace
func (t thread) end() {
	racecall(&threadEnd, uintptr(t), 0, 0, 0)
	hide()
	threads.Add(-1)
	show()
}

// become makes the calling goroutine t to the detector, and returns what it has been.
//
//go:norace
func become(t thread) (before thread) {
	p := threadOf(record(), threadAt)
	before, *p = *p, t
	return before
}

// threadOf returns the word of a record of a goroutine at an offset.
//
//go:norace
//go:nocheckptr
func threadOf(record unsafe.Pointer, at uintptr) *thread { return (*thread)(unsafe.Add(record, at)) }

// recordBytes is at most the size of a record of a goroutine.
const recordBytes = 400

// findThread finds where the runtime's record of a goroutine has its thread. The detector gives the memory of a thread
// that has ended to the next one. So a goroutine that begins then has the address of that thread in its record, and in
// one place only.
//
//go:norace
func findThread() uintptr {
	const attempts = 100 // another goroutine may begin in between
	found, ended := make(chan uintptr), new(thread)
	for range attempts {
		racecall(&threadStart, 0, uintptr(unsafe.Pointer(ended)), 0, 0)
		racecall(&threadEnd, uintptr(*ended), 0, 0, 0)
		go func() { found <- uniqueIn(record(), *ended) }()
		if at := <-found; at != 0 {
			return at
		}
	}
	return 0
}

// uniqueIn returns the offset of t in the record of a goroutine, or 0 if t is not there, or more than once.
//
//go:norace
func uniqueIn(record unsafe.Pointer, t thread) (at uintptr) {
	for i := uintptr(0); i < recordBytes; i += unsafe.Sizeof(t) {
		if *threadOf(record, i) != t {
			continue
		}
		if at != 0 {
			return 0
		}
		at = i
	}
	return at
}

// record returns the runtime's record of the calling goroutine.
func record() unsafe.Pointer

// racecall calls a function of the detector.
//
//go:linkname racecall runtime.racecall
func racecall(function *byte, a, b, c, d uintptr)

// threadStart stands for the function of the detector that begins a thread.
//
//go:linkname threadStart __tsan_go_start
var threadStart byte

// threadEnd stands for the function of the detector that ends a thread.
//
//go:linkname threadEnd __tsan_go_end
var threadEnd byte
