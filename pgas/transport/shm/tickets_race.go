//go:build race

package shm

// Tickets under the race detector. A ticket orders nothing between two initiators: what orders the uses of an entry is
// its state, and taken. The detector would take one initiator's ticket to come after all that an earlier one has done,
// and not report their conflicts. So it does not see tickets.

import (
	"runtime"
	"sync/atomic"
)

// tickets is a word that counts the tickets of a queue.
type tickets struct{ n atomic.Uint64 }

func (t *tickets) Load() uint64 {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	return t.n.Load()
}

func (t *tickets) CompareAndSwap(old, new uint64) bool {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	return t.n.CompareAndSwap(old, new)
}
