package containers

// Growth: the member that finds a segment full splits it, whosever it is.
//
//  1. it holds the lock of the segment, and locks the new one, which does not exist yet;
//  2. stores the keys that move, and then the header, in the new segment;
//  3. stores the new depth in the old segment's header: from now on finds go on to the new one;
//  4. removes the keys that have moved from the old segment;
//  5. unlocks both.
//
// A fence is between any two of these. Locks are only ever taken from a segment to its split, so there is no circle of
// waiting. Finds go on all the time (map_find.go).

import (
	"context"
)

// split splits a segment and unlocks it, also on an error.
func (t *mapShards) split(ctx context.Context, held mapHeld) error {
	depth := mapDepth(held.header)
	from, to := held.segmentAt, segmentAt{held.pe, held.at | 1<<depth}
	if err := t.lock(ctx, to); err != nil {
		t.unlock(from)
		return err
	}
	stay := t.copySlots(from, t.buffers.stay)
	move, moved := t.partition(stay, depth)
	t.store(to, 0, move)
	t.fence(to.pe)
	t.headerOf(to).Set(to.pe, mapHeader(depth+1, moved))
	t.fence(to.pe)
	t.headerOf(from).Set(from.pe, mapHeader(depth+1, mapElements(held.header)-moved))
	t.fence(from.pe)
	t.store(from, 0, stay)
	t.unlock(to)
	t.unlock(from)
	return nil
}

// splitBuffers are what a split works on: the slots of both segments, and which slots must not be free because they lie
// between a key and its first slot.
type splitBuffers struct {
	stay, move []uint64
	needed     []bool
}

func newSplitBuffers(l mapLayout) splitBuffers {
	words := l.slots * l.slotWords()
	return splitBuffers{stay: make([]uint64, words), move: make([]uint64, words), needed: make([]bool, l.slots)}
}

// partition moves the slots whose hash has bit depth set out of the slots of a segment. It returns the slots of the new
// segment, and how many of them it has filled.
func (t *mapShards) partition(stay []uint64, depth int) (move []uint64, moved int) {
	size := t.slotWords()
	move, needed := t.buffers.move, t.buffers.needed
	clear(move)
	clear(needed)
	for i := range t.slots {
		slot := stay[i*size : (i+1)*size]
		if slot[0] <= slotDead {
			continue
		}
		hash := mapHash(slot[1 : 1+t.keyWords])
		if hash>>depth&1 == 0 {
			for j := t.firstSlot(hash); j != i; j = (j + 1) & (t.slots - 1) {
				needed[j] = true
			}
			continue
		}
		j, _ := t.place(move, hash)
		copy(move[j*size:], slot)
		slot[0] = slotDead
		moved++
	}
	for i, keep := range needed {
		if slot := stay[i*size : (i+1)*size]; slot[0] == slotDead && !keep {
			slot[0] = slotFree
		}
	}
	return move, moved
}
