//go:build amd64 || arm64

package sim

// prefetchLines prefetches n lines of 64 bytes, from addr on. addr may be any number: a prefetch does not fault.
//
//go:noescape
func prefetchLines(addr uintptr, n int)

// prefetchEach prefetches the line of 64 bytes at each of n addresses, the first of which is at list.
//
//go:noescape
func prefetchEach(list *uintptr, n int)

// currentG returns the address of the runtime's record of the goroutine that runs.
func currentG() uintptr
