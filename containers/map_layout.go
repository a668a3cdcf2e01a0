package containers

// The memory of a Map. Each member has a shard: an array of segments, most of which do not exist yet and have never
// been touched. A segment is
//
//	lock    the holder's PE number plus 1, or 0
//	header  the segment's depth plus 1 in its low byte, 0 if it does not exist; above it the number of its elements
//	slots   a state word, the words of a key, the words of a value
//
// The hash of a key names its member (high bits), its segment (low bits), and the slot in the segment where the search
// starts (bits between). Segment a of depth d has the keys whose hash has the low d bits of a, so a is below 2^d. A
// shard begins with segment 0 of depth 0. A full segment a of depth d is split: the keys whose hash has bit d set move
// to segment a + 2^d, and both have depth d+1. This is extendible hashing (R. Fagin and others, 1979) without a
// directory, for the place of a segment is its number. A member whose depth is old learns from the header of the
// segment that it must go on, as in LH* (W. Litwin and others, 1993).
//
// The state of a slot is free (0), dead (1), or the check of its key and value, a hash of all their words. So one look
// at a slot proves itself: if state, key and value were read while a writer was at work, in whatever order, they do not
// fit together. J. Mitchell and others, "Using one-sided RDMA reads to build a fast, CPU-efficient key-value store"
// (2013), read their table in this way.
//
// Two slots whose words differ have the same check with a probability of 2^-62.

import (
	"math/bits"
)

const (
	mapLockWord   = 0
	mapHeaderWord = 1
	mapFirstSlot  = 2

	slotFree = 0
	slotDead = 1 // a tombstone
	slotLive = 2 // the low bits of a check

	mapDeepest   = 24 // depth of a segment
	mapSlotShift = 25 // the bits of the hash that name the slot begin here
)

// mapLayout is where things are in a shard.
type mapLayout struct {
	keyWords, valueWords int
	slots                int // the slots of a segment: a power of two
	depth                int // the greatest depth of a segment
}

// mapDefaultCapacity is the capacity of a map for which the program names none, if its memory is there.
const mapDefaultCapacity = 1 << 20

// mapDefault returns the capacity of a map for which the program names none: mapDefaultCapacity, halved until a shard
// takes no more than a quarter of a heap of so many bytes.
func mapDefault(keyBytes, valueBytes, n int, heap uint64) int {
	capacity := mapDefaultCapacity
	for ; capacity > 1; capacity /= 2 {
		l := mapLayoutFor(keyBytes, valueBytes, capacity, n)
		if uint64(l.segments())*uint64(l.segmentWords())*8 <= heap/4 {
			break
		}
	}
	return capacity
}

// mapLayoutFor returns the layout of a shard for its part of capacity elements on n members.
func mapLayoutFor(keyBytes, valueBytes, capacity, n int) mapLayout {
	l := mapLayout{keyWords: mapWords(keyBytes), valueWords: mapWords(valueBytes), slots: 64}
	load := l.slots / 2 // average elements of a segment of the greatest depth: so few that none overflows by chance
	if l.slotWords() > 8 {
		l.slots = 32
		load = 12
	}
	share := capacity/n + 1
	l.depth = bits.Len(uint((share + 4*mapRoot(share)) / load))
	return l
}

// mapRoot returns about the square root of n: the keys of a member vary by it.
func mapRoot(n int) int { return 1 << ((bits.Len(uint(n)) + 1) / 2) }

// mapWords returns the words that hold n bytes.
func mapWords(n int) int { return (n + 7) / 8 }

func (l *mapLayout) slotWords() int    { return 1 + l.keyWords + l.valueWords }
func (l *mapLayout) segmentWords() int { return mapFirstSlot + l.slots*l.slotWords() }
func (l *mapLayout) segments() int     { return 1 << l.depth }

// most is the number of elements beyond which a segment is split.
func (l *mapLayout) most() int { return l.slots * 3 / 4 }

// segmentOf returns the segment of a hash if that has depth depth.
func segmentOf(hash uint64, depth int) int { return int(hash & (1<<depth - 1)) }

// firstSlot returns the slot of a segment where the search for a hash starts.
func (l *mapLayout) firstSlot(hash uint64) int { return int(hash>>mapSlotShift) & (l.slots - 1) }

// mapOwner returns the member that has a hash.
func mapOwner(hash uint64, n int) int {
	hi, _ := bits.Mul64(hash, uint64(n))
	return int(hi)
}

// mapHeader returns the header of a segment.
func mapHeader(depth, elements int) uint64 { return uint64(elements)<<8 | uint64(depth+1) }

// mapDepth returns the depth in a header, -1 if the segment does not exist.
func mapDepth(header uint64) int { return int(header&0xff) - 1 }

// mapElements returns the number of elements in a header.
func mapElements(header uint64) int { return int(header >> 8) }

// mapGoOn returns the depth by which to look for hash next, after segment a has turned out to have that header; found
// says that a is the right segment.
func mapGoOn(hash uint64, a int, header uint64) (depth int, found bool) {
	d := mapDepth(header)
	if d < 0 {
		return bits.Len(uint(a)) - 1, false // a is the split of the segment without its highest bit
	}
	moved := (hash ^ uint64(a)) & (1<<d - 1)
	if moved == 0 {
		return d, true
	}
	return bits.TrailingZeros64(moved) + 1, false
}

const (
	mapMixA = 0x9e3779b97f4a7c15
	mapMixB = 0xd6e8feb86659fd93
)

// mapMix hashes one more word.
func mapMix(h, word uint64) uint64 {
	hi, lo := bits.Mul64(h^word^mapMixA, mapMixB)
	return hi ^ lo ^ bits.RotateLeft64(word, 32)
}

// mapHash hashes the words of a key.
func mapHash(key []uint64) uint64 {
	h := uint64(len(key))
	for _, w := range key {
		h = mapMix(h, w)
	}
	return mapMix(h, mapMixB)
}

// slotCheck returns the state of a live slot with a key of that hash, and that value.
func slotCheck(hash uint64, value []uint64) uint64 {
	for _, w := range value {
		hash = mapMix(hash, w)
	}
	return mapMix(hash, mapMixA)&^3 | slotLive
}
