//go:build !race

package shm

import "sync/atomic"

// tickets is a word that counts the tickets of a queue.
type tickets = atomic.Uint64
