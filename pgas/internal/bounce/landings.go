package bounce

// Bounce buffers of gets that do not wait. The transport fills the buffer, and the quiet that completes the get
// copies it to the destination.

import (
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/transport"
)

// Landings are the bounce buffers that no quiet has copied yet, of one channel.
type Landings struct {
	issued  atomic.Uint64 // number of gets so far: a quiet completes the gets that it finds counted
	waiting atomic.Int64  // len(list)
	mu      sync.Mutex
	list    []landing
}

// landing is one bounce buffer, with its destination: blocks of it, at the same places in both.
type landing struct {
	number    uint64
	pe        int
	dst, from []byte
	blocks    transport.Strided
}

// Issued returns the number of gets so far. A quiet that begins after it completes all of them.
func (l *Landings) Issued() uint64 { return l.issued.Load() }

// add records a get from pe that has been issued.
func (l *Landings) add(pe int, dst, from []byte, blocks transport.Strided) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, landing{l.issued.Load() + 1, pe, dst, from, blocks})
	l.waiting.Add(1)
	l.issued.Add(1)
}

// Land copies the buffers of the gets from pe, or from any PE if pe < 0, that a quiet has completed: those that had
// been counted in issued when it began. When it returns, calls of other goroutines that land the same buffers have
// copied them too.
func (l *Landings) Land(pe int, issued uint64) {
	if l.waiting.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.list[:0]
	for _, g := range l.list {
		if g.number > issued || pe >= 0 && pe != g.pe {
			left = append(left, g)
			continue
		}
		copyBlocks(g.dst, g.from, g.blocks)
	}
	clear(l.list[len(left):]) // lets go of the buffers
	l.list = left
	l.waiting.Store(int64(len(left)))
}

// copyBlocks copies blocks from one buffer to the same places of another.
func copyBlocks(dst, from []byte, b transport.Strided) {
	for i := range b.Count {
		copy(dst[i*b.LocalStride:][:b.BlockBytes], from[i*b.LocalStride:])
	}
}
