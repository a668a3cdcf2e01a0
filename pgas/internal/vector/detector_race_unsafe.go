//go:build race

package vector

import (
	"runtime"
	"unsafe"
)

// Detected reports whether the program is built with the race detector.
const Detected = true

// ToDetector tells the race detector, which does not see what assembly does, that the calling goroutine reads a and b
// and then writes d.
func ToDetector(d, a, b []byte) {
	runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(a)), len(a))
	runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(d)), len(d))
}
