package containers

import (
	"bytes"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/carry"
)

// ReadMapFile reads a snapshot file of a Map[K, V].
func ReadMapFile[K comparable, V any](file []byte) ([]uint64, error) {
	l := mapLayoutFor(carry.SizeOf[K](), carry.SizeOf[V](), 1, 1)
	_, words, err := readMapFile(bytes.NewReader(file), int64(len(file)), mapLayoutOf[K, V](), l.slotWords()-1, true)
	return words, err
}

// Tear makes the element of k, which is on this host, look as if its value were being written. mend ends that; it may
// be called by another goroutine.
func (m *Map[K, V]) Tear(k K) (mend func()) {
	hash := m.hash(k)
	pe := mapOwner(hash, m.members.N)
	for s := range 1 << m.shards.mapLayout.depth {
		slots := m.shards.look(segmentAt{pe, s})
		if i, outcome := m.shards.scan(slots, hash, m.key); outcome == slotFound {
			value := &slots[i*m.shards.slotWords()+1+m.shards.keyWords]
			atomic.AddUint64(value, 1)
			return func() { atomic.AddUint64(value, ^uint64(0)) }
		}
	}
	panic("Tear: no such key")
}

// SegmentBits returns the low n bits of k's hash, which name its segment at depth n.
func (m *Map[K, V]) SegmentBits(k K, n int) int { return segmentOf(m.hash(k), n) }
