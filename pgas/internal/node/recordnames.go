package node

// Which words have a name in the trace, and which locks this PE holds: what record.go remembers from event to event.

import (
	"sync"
	"sync/atomic"
)

// wordNames remembers which words have a name in the trace, and which locks are held.
type wordNames struct {
	known sync.Map // uint64 to struct{}
	held  sync.Map // offsets of locks to record.Mark
	n     atomic.Int32
}

// mostWordNames bounds them, since a PE's names are few.
const mostWordNames = 128
