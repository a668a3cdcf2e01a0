//go:build amd64 || arm64

// Package prefetch asks the CPU for memory that will be read soon. A prefetch changes no result and does not fault.
package prefetch

// Lines prefetches n lines of 64 bytes, from addr on. addr may be any number.
//
//go:noescape
func Lines(addr uintptr, n int)

// Each prefetches the line of 64 bytes at each of n addresses, the first of which is at list.
//
//go:noescape
func Each(list *uintptr, n int)

// CurrentG returns the address of the runtime's record of the goroutine that runs.
func CurrentG() uintptr
