package containers

// Finding. A find takes no lock and stops no writer, and no writer stops it.
//
// It looks at the slots from the hash's first one on, until it meets the key, or a free slot, or has seen all. Writers
// of a segment take turns, and keep two rules: a key stays in its slot until it is deleted or its segment is split; and
// as long as a key is in a segment, no slot between its first one and its own is free. So a find that has met no key
// has looked at each slot at a moment when the key was not in it, and if the key was in the segment all the time it
// would have found it. What remains is a split: it copies a key to the new segment, then changes the header of the old
// one, then removes the key there. So a find that has met no key looks at the header after the slots: if it still owns
// the hash, no key had been removed. And it must have known before that the segment exists, for keys come to a new one
// in any order.
//
// A value that is found may be read from the old segment while a split goes on, but no longer when somebody may change
// the copy: both segments are locked until the key is removed.

import (
	"sync/atomic"
)

// mapReader is what finds need beside the memory.
type mapReader struct {
	mapMemory
	depth []uint8    // the depth of the segment of each member that was right there last
	known [][]uint64 // for each member, a bit for each segment that this one knows to exist
	value []uint64   // what was found last
	still bool       // nobody writes: a header that comes with the slots is good
}

func newMapReader(mem mapMemory) mapReader {
	return mapReader{mapMemory: mem, depth: make([]uint8, mem.members.N), known: make([][]uint64, mem.members.N), value: make([]uint64, mem.valueWords)}
}

// find sets value to that of key and reports whether there is one.
func (t *mapReader) find(hash uint64, key []uint64) bool {
	pe := mapOwner(hash, t.members.N)
	t.members.MustLive(pe)
	depth := int(t.depth[pe])
	for wait := (pace{}); ; {
		s := segmentAt{pe, segmentOf(hash, depth)}
		existed := t.exists(s)
		switch _, outcome := t.scan(t.look(s), hash, key); outcome {
		case slotFound:
			return true
		case slotTorn:
			t.letWrite(&wait)
			continue
		}
		next, right := mapGoOn(hash, s.at, t.headerAfter(s))
		if right && !existed {
			t.learn(s)
			continue
		}
		if right {
			t.depth[pe] = uint8(next)
			return false
		}
		depth = next
	}
}

// touch reads where searches for hashes begin in this member's shard: first the headers, which say in which segments,
// then the slots. A large shard is not in the cache, and reads of different hashes do not wait for one another, as
// searches do. Nothing depends on what it reads, so it takes no lock, and the race detector does not see it.
//
//go:norace
func (t *mapReader) touch(hashes []uint64) (read uint64) {
	near := t.near[t.members.Me]
	if near == nil {
		return 0
	}
	depth := int(t.depth[t.members.Me])
	for _, hash := range hashes {
		read ^= near[t.start(segmentAt{t.members.Me, segmentOf(hash, depth)})+mapHeaderWord]
	}
	for _, hash := range hashes {
		at := segmentOf(hash, depth)
		if next, right := mapGoOn(hash, at, near[t.start(segmentAt{t.members.Me, at})+mapHeaderWord]); !right {
			at = segmentOf(hash, next)
		}
		start := t.start(segmentAt{t.members.Me, at})
		slot := start + mapFirstSlot + t.firstSlot(hash)*t.slotWords()
		read ^= near[start+mapHeaderWord] ^ near[slot] ^ near[slot+t.slotWords()-1]
	}
	return read
}

// exists reports whether this member knows that a segment exists. Only then does it matter that a find meets no key
// there: in a segment that comes into being during the find, keys may come after it has looked.
func (t *mapReader) exists(s segmentAt) bool {
	if t.near[s.pe] != nil {
		return t.headerOf(s).Fetch(s.pe) != 0
	}
	known := t.known[s.pe]
	return t.still || known != nil && known[s.at/64]>>(s.at%64)&1 == 1
}

// learn remembers that a segment exists.
func (t *mapReader) learn(s segmentAt) {
	if t.known[s.pe] == nil {
		t.known[s.pe] = make([]uint64, t.segments()/64+1)
	}
	t.known[s.pe][s.at/64] |= 1 << (s.at % 64)
}

// headerAfter returns the header of the segment of the last look, from a time after it, unless it says that the segment
// does not exist.
func (t *mapReader) headerAfter(s segmentAt) uint64 {
	header := t.seenHeader(s)
	if t.near[s.pe] != nil || t.still || header == 0 {
		return header
	}
	return t.headerOf(s).Fetch(s.pe)
}

// The outcomes of a scan.
type slotOutcome int

const (
	slotNone  slotOutcome = iota // the key is not there
	slotFound                    // value is the key's
	slotTorn                     // the key's slot is being written
)

// scan looks for key in slots and sets value. i is its slot.
func (t *mapReader) scan(slots []uint64, hash uint64, key []uint64) (i int, outcome slotOutcome) {
	size := t.slotWords()
	i = t.firstSlot(hash)
	for range t.slots {
		slot := slots[i*size : (i+1)*size]
		state := atomic.LoadUint64(&slot[0])
		if state == slotFree {
			return i, slotNone
		}
		if state != slotDead && t.isKey(slot, key) {
			loadWords(t.value, slot[1+t.keyWords:])
			if t.alone { // nobody is writing it
				return i, slotFound
			}
			if slotCheck(hash, t.value) == state {
				return i, slotFound
			}
			return i, slotTorn
		}
		i = (i + 1) & (t.slots - 1)
	}
	return i, slotNone
}

// isKey reports whether slot has that key.
func (t *mapReader) isKey(slot, key []uint64) bool {
	for j, w := range key {
		if atomic.LoadUint64(&slot[1+j]) != w {
			return false
		}
	}
	return true
}
