//go:build !amd64

package shm

// StoreFence orders every store and atomic operation before it before every store and atomic operation after it, for
// all observers.
func StoreFence() { FullFence() }
