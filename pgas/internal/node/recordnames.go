package node

// Which words have a name in the trace, which locks this PE holds, and the names of places: what record.go remembers
// from event to event.

import (
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/callsite"
)

// wordNames remembers which words have a name in the trace, and which locks are held.
type wordNames struct {
	known sync.Map // words that have a name in the trace: uint64 to struct{}
	held  sync.Map // locks that this PE holds: offsets to record.Mark
	n     atomic.Int32
}

// mostWordNames bounds them, since a PE's names are few.
const mostWordNames = 128

// placeNames remembers what places are called by the stacks of their calls: to name a stack takes longer than to take
// it.
type placeNames struct {
	mu    sync.Mutex
	known map[placeKey]string
}

type placeKey struct {
	stack callsite.Stack
	cause string
}

// mostPlaceNames bounds them: a program may call from any number of stacks.
const mostPlaceNames = 1024

// of returns "cause at file:line" for a stack, or "" if no function of the program is on it.
func (p *placeNames) of(s *callsite.Stack, cause string) string {
	key := placeKey{*s, cause}
	p.mu.Lock()
	defer p.mu.Unlock()
	if name, ok := p.known[key]; ok {
		return name
	}
	name := ""
	if site := s.Program(); site != "" {
		name = cause + " at " + site
	}
	if p.known == nil || len(p.known) >= mostPlaceNames {
		p.known = map[placeKey]string{}
	}
	p.known[key] = name
	return name
}
