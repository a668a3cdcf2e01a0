//go:build !amd64 && !arm64

package callsite

import "runtime"

// Path returns a number of the caller's stack: two calls that have got there through the same calls have the same
// number, and others another one.
func Path() uint64 {
	var pcs [64]uintptr
	h := uint64(0)
	for _, pc := range pcs[:runtime.Callers(2, pcs[:])] {
		h = (h ^ uint64(pc)) * 0x9E3779B97F4A7C15
		h = h<<29 | h>>35
	}
	return h
}
