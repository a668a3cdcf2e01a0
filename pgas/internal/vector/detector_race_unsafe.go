//go:build race

package vector

import (
	"runtime"
	"unsafe"
)

// toDetector tells the race detector, which does not see what assembly does, that it reads a and b and then writes d.
func toDetector(d, a, b []byte) {
	runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(a)), len(a))
	runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(d)), len(d))
}
