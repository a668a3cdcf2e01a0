//go:build race && (amd64 || arm64)

package strands

// Threads returns how many threads the detector has for strands.
func Threads() int { return int(threads.Load()) }
