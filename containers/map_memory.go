package containers

// How a member reaches the words of a shard. The lock and the header of a segment are atomic words, wherever they are.
// The slots of a shard on this host are loaded and stored word by word; those of another host are got and put, whole
// segments and whole slots at a time. Neither needs an order among the words of a slot, nor whole words, because the
// state of a slot proves the rest: what is read of a state that is being changed is neither free nor dead before it is.
// The depth in a header is one byte.

import (
	"context"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// mapMemory is the shards as one member sees them.
type mapMemory struct {
	members *carry.Members
	mapLayout
	words   pgas.Sym[uint64]
	atomics pgas.AtomicSlice[uint64]
	near    [][]uint64 // the shard of each member, nil on another host
	fetched []uint64   // the segment that was got last
	written []bool     // for each member, this one has put there since its last quiet
	// this member is the only one that accesses its shard: locks are not taken, and stores need not be atomic
	alone bool
}

// newMapMemory makes the view of allocated words.
func newMapMemory(m *carry.Members, l mapLayout, words pgas.Sym[uint64]) mapMemory {
	t := mapMemory{members: m, mapLayout: l, words: words, atomics: pgas.AtomicsOf(words.All())}
	t.near = make([][]uint64, m.N)
	t.written = make([]bool, m.N)
	t.fetched = make([]uint64, l.segmentWords())
	for pe := range t.near {
		t.near[pe] = words.Ptr(pe)
	}
	hook.ExemptFromRaces(words) // what a look copies is being changed
	return t
}

// segmentAt is a segment of a member.
type segmentAt struct{ pe, at int }

// start returns the segment's first word.
func (t *mapMemory) start(s segmentAt) int { return s.at * t.segmentWords() }

func (t *mapMemory) lockOf(s segmentAt) pgas.Atomic[uint64] {
	return t.atomics.At(t.start(s) + mapLockWord)
}

func (t *mapMemory) headerOf(s segmentAt) pgas.Atomic[uint64] {
	return t.atomics.At(t.start(s) + mapHeaderWord)
}

// look returns the slots of a segment. On this host that is the memory itself, which others may change meanwhile; of
// another host a copy, valid until the next look. What a copy shows was there during the look, but not all of it at one
// moment.
func (t *mapMemory) look(s segmentAt) (slots []uint64) {
	start := t.start(s)
	if near := t.near[s.pe]; near != nil {
		return near[start+mapFirstSlot : start+t.segmentWords()]
	}
	if t.written[s.pe] { // a get may overtake a put
		t.members.Ctx.MustQuiet()
		clear(t.written)
	}
	t.words.Range(start, start+t.segmentWords()).Get(s.pe, t.fetched)
	return t.fetched[mapFirstSlot:]
}

// seenHeader returns the header of the segment of the last look. It is of that time, if the segment is of another host.
func (t *mapMemory) seenHeader(s segmentAt) uint64 {
	near := t.near[s.pe]
	if near == nil {
		return t.fetched[mapHeaderWord]
	}
	return atomic.LoadUint64(&near[t.start(s)+mapHeaderWord])
}

// copySlots copies the slots of a segment, which this member has locked, to private, and returns that.
func (t *mapMemory) copySlots(s segmentAt, private []uint64) []uint64 {
	loadWords(private, t.look(s))
	return private
}

// loadWords copies words that others may be storing.
func loadWords(dst, src []uint64) {
	for i := range dst {
		dst[i] = atomic.LoadUint64(&src[i])
	}
}

// store sets words of a segment from its slot i on.
func (t *mapMemory) store(s segmentAt, i int, words []uint64) {
	at := t.start(s) + mapFirstSlot + i*t.slotWords()
	near := t.near[s.pe]
	if near == nil {
		t.written[s.pe] = true
		t.words.Range(at, at+len(words)).Put(s.pe, words)
		return
	}
	if t.alone {
		copy(near[at:], words)
		return
	}
	for j, w := range words {
		if dst := &near[at+j]; atomic.LoadUint64(dst) != w {
			atomic.StoreUint64(dst, w)
		}
	}
}

// fence orders what this member has stored at pe before what it stores there later.
func (t *mapMemory) fence(pe int) { t.members.Ctx.FencePE(pe) }

// letWrite lets the writer of a slot go on. It panics with *pgas.PeerError if a PE of the job is lost.
func (t *mapMemory) letWrite(wait *pace) {
	if err := wait.pause(context.Background(), t.members.World); err != nil {
		panic(err)
	}
}
