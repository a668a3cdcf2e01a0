//go:build amd64 || arm64

package sim

// prefetchLines asks for n lines of 64 bytes, from at on, to be brought into the cache. It is a wish: at may be
// anything.
//
//go:noescape
func prefetchLines(at uintptr, n int)

// currentG is where the runtime keeps what it knows of the goroutine that runs.
func currentG() uintptr
