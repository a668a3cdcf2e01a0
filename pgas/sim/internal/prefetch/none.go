//go:build !amd64 && !arm64

// Package prefetch does nothing on this CPU.
package prefetch

// Lines does nothing.
func Lines(uintptr, int) {}

// Each does nothing.
func Each(*uintptr, int) {}

// CurrentG returns 0.
func CurrentG() uintptr { return 0 }
