package dsm

// Which blocks move between PEs, and which of these PEs share data and which only a block.

import "sync"

// blockStats are a PE's records of blocks that it has released after another PE.
type blockStats struct {
	mu    sync.Mutex
	moves map[int32]*blockMoves
}

// blockMoves are the moves of a block to this PE.
type blockMoves struct {
	count       uint64
	from        int32 // the PE that it came from last
	first, last int   // the bytes that this PE has changed
}

func (s *blockStats) add(b, prev int32, first, last int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.moves[b]
	if m == nil {
		m = &blockMoves{first: first, last: last}
		s.moves[b] = m
	}
	m.count++
	m.from, m.first, m.last = prev, min(m.first, first), max(m.last, last)
}
