//go:build amd64 || arm64

package callsite

// Path returns a number of the caller's stack: two calls that have got there through the same calls have the same
// number, and others another one. It follows the frame pointers, which costs some nanoseconds. Of a deep stack it knows
// the 64 innermost frames.
func Path() uint64
