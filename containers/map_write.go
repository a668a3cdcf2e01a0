package containers

// Writing: insert, update, delete. Writers of one segment take turns by its lock. A writer
//
//  1. locks the segment, and finds out from its header that it is the right one;
//  2. looks for the key, and for the first slot that may take it;
//  3. stores the slot, then the number of elements if that has changed;
//  4. unlocks, after a fence: the next writer sees what was stored.
//
// A free slot is met at the end of a search, a dead one on the way; the first of them takes a new key. A slot that dies
// is free at once if the next one is free, and then those dead ones before it, too: no key is behind them.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/internal/plural"
)

// MapFullError is the error of an insert into a Map that has no room for another element.
type MapFullError struct {
	Member   int // the member whose memory is full
	Capacity int // the capacity of the Map
}

func (e *MapFullError) Error() string {
	return fmt.Sprintf("the map, made for %s, has no room at PE %d: make it with a larger Capacity", plural.Count(e.Capacity, "element"), e.Member)
}

// mapShards is the shards of a Map as one member sees them.
type mapShards struct {
	mapReader
	capacity int
	slot     []uint64 // the slot that is being written
	buffers  splitBuffers
}

// mapHeld is a segment that this member has locked.
type mapHeld struct {
	segmentAt
	slots  []uint64
	header uint64
}

// A mapChange says what becomes of a key. It gets the words of the key's value, meaningless ones if the key has none,
// and may change them. It returns what to do then.
type mapChange func(value []uint64, found bool) mapAction

type mapAction int

const (
	mapLeave mapAction = iota
	mapPut
	mapRemove
)

// change applies f to key and reports whether there was one. After an error nothing has changed.
func (t *mapShards) change(ctx context.Context, hash uint64, key []uint64, f mapChange) (found bool, err error) {
	defer orLost(&err)
	for again := true; again; {
		held, err := t.lockFor(ctx, hash)
		if err != nil {
			return false, err
		}
		i, outcome := t.scan(held.slots, hash, key)
		found = outcome == slotFound
		again, err = t.apply(ctx, held, i, hash, key, found, f)
		if err != nil {
			return false, err
		}
	}
	return found, nil
}

// apply calls f for key, which is in slot i if it is found, and stores, removes or leaves it. It unlocks the segment
// even if f panics. It reports whether the segment has been split instead: the change is then to be tried again.
func (t *mapShards) apply(ctx context.Context, held mapHeld, i int, hash uint64, key []uint64, found bool, f mapChange) (again bool, err error) {
	asked := false
	defer func() {
		if !asked {
			t.unlock(held.segmentAt)
		}
	}()
	action := f(t.value, found)
	asked = true
	switch {
	case action == mapPut && !found:
		return t.insert(ctx, held, hash, key)
	case action == mapPut:
		t.write(held, i, hash, key)
	case action == mapRemove && found:
		t.remove(held, i)
	}
	t.unlock(held.segmentAt)
	return false, nil
}

// lockFor locks the segment of a hash.
func (t *mapShards) lockFor(ctx context.Context, hash uint64) (mapHeld, error) {
	pe := mapOwner(hash, t.members.N)
	if err := t.members.Lost(pe); err != nil {
		return mapHeld{}, err
	}
	depth := int(t.depth[pe])
	for {
		s := segmentAt{pe, segmentOf(hash, depth)}
		if err := t.lock(ctx, s); err != nil {
			return mapHeld{}, err
		}
		slots := t.look(s)
		header := t.seenHeader(s)
		next, right := mapGoOn(hash, s.at, header)
		if right {
			t.depth[pe] = uint8(next)
			return mapHeld{s, slots, header}, nil
		}
		t.unlock(s)
		depth = next
	}
}

// lock locks a segment, which need not exist.
func (t *mapShards) lock(ctx context.Context, s segmentAt) error {
	if t.alone {
		return nil
	}
	lock := t.lockOf(s)
	for wait := (pace{}); lock.CompareSwap(s.pe, 0, uint64(t.members.Me)+1) != 0; {
		if wait.polls == 0 {
			ctx = t.members.WaitFor(ctx, "a write of a Map", s.pe)
		}
		if err := wait.pause(ctx, t.members.World); err != nil {
			return fmt.Errorf("waiting for a writer of a segment of PE %d: %w", s.pe, err)
		}
	}
	return nil
}

// unlock unlocks a segment after all that has been stored in it.
func (t *mapShards) unlock(s segmentAt) {
	if t.alone {
		return
	}
	t.fence(s.pe)
	t.lockOf(s).Set(s.pe, 0)
}

// insert makes a slot for key, with value, and unlocks. It reports whether the segment has been split instead, so that
// the caller must try again.
func (t *mapShards) insert(ctx context.Context, held mapHeld, hash uint64, key []uint64) (again bool, err error) {
	i, room := t.place(held.slots, hash)
	n := mapElements(held.header)
	if depth := mapDepth(held.header); depth < t.mapLayout.depth && (n >= t.most() || !room) {
		return true, t.split(ctx, held)
	}
	if !room {
		t.unlock(held.segmentAt)
		return false, &MapFullError{Member: held.pe, Capacity: t.capacity}
	}
	t.write(held, i, hash, key)
	t.count(held, n+1)
	t.unlock(held.segmentAt)
	return false, nil
}

// place returns the first slot that may take a key of that hash, which is not there.
func (t *mapShards) place(slots []uint64, hash uint64) (i int, room bool) {
	i = t.firstSlot(hash)
	for range t.slots {
		if slots[i*t.slotWords()] <= slotDead {
			return i, true
		}
		i = (i + 1) & (t.slots - 1)
	}
	return 0, false
}

// write stores key and value in slot i.
func (t *mapShards) write(held mapHeld, i int, hash uint64, key []uint64) {
	t.slot[0] = slotCheck(hash, t.value)
	copy(t.slot[1:], key)
	copy(t.slot[1+t.keyWords:], t.value)
	t.store(held.segmentAt, i, t.slot)
}

// count stores the number of elements of a segment.
func (t *mapShards) count(held mapHeld, n int) {
	t.headerOf(held.segmentAt).Set(held.pe, mapHeader(mapDepth(held.header), n))
}

// remove removes the element in slot i.
func (t *mapShards) remove(held mapHeld, i int) {
	t.count(held, mapElements(held.header)-1)
	size, last := t.slotWords(), t.slots-1
	if held.slots[((i+1)&last)*size] != slotFree {
		t.store(held.segmentAt, i, []uint64{slotDead})
		return
	}
	t.store(held.segmentAt, i, []uint64{slotFree})
	for i = (i - 1) & last; held.slots[i*size] == slotDead; i = (i - 1) & last {
		t.store(held.segmentAt, i, []uint64{slotFree})
	}
}
