package protocol

// What a PE counts, and which blocks have moved to it.

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// Counters are what a PE has done since it opened a region.
type Counters struct {
	FastReads    atomic.Uint64 // copies fetched by one message: a notice had told where the version is
	SlowReads    atomic.Uint64 // copies fetched with a lease
	Hops         atomic.Uint64 // homes that had moved, on the way to a version
	Gets         atomic.Uint64 // gets that fetched copies; neighbouring blocks of one home share one
	BytesFetched atomic.Uint64
	FastReleases atomic.Uint64 // blocks that this PE had written last: no message
	Moves        atomic.Uint64 // blocks whose home has moved to this PE
	Changed      atomic.Uint64 // bytes from the first to the last changed one of each released block
	Invalidated  atomic.Uint64 // copies dropped by notices
	Fences       atomic.Uint64
	Blocks       Moves
}

// Released records the release of block b by PE me. PE prev had released the block last.
func (c *Counters) Released(b, prev, me int32, first, last int) {
	if first < 0 {
		return
	}
	c.Changed.Add(uint64(last - first + 1))
	if prev != me {
		c.Blocks.add(b, int(me), first, last)
	}
}

// Move is what one PE has recorded of a block.
type Move struct {
	Block, PE   int
	Count       uint64 // releases after another PE
	First, Last int    // bytes that the PE has changed in these releases
}

// Moves are a PE's records of the blocks that it has released after another PE.
type Moves struct {
	mu   sync.Mutex
	list map[int32]*Move
}

// add records that this PE has released b after another PE.
func (m *Moves) add(b int32, pe, first, last int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.list[b]
	if x == nil {
		if m.list == nil {
			m.list = map[int32]*Move{}
		}
		x = &Move{Block: int(b), PE: pe, First: first, Last: last}
		m.list[b] = x
	}
	x.Count++
	x.First, x.Last = min(x.First, first), max(x.Last, last)
}

// Worst returns the records of the n blocks that have moved most.
func (m *Moves) Worst(n int) []Move {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Move
	for _, x := range m.list {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b Move) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Block, b.Block))
	})
	return list[:min(n, len(list))]
}
