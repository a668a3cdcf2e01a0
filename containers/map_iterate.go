package containers

// Iteration: segment after segment, from each to those that it was split into. A segment that was split d times after
// it came into being at depth b has its splits at its number plus 2^b … 2^(d-1). What an iteration takes from a
// segment is what its header, read after the slots, says that it has; splits that come later hold what the iteration
// has already taken. So a key that is there all the time is met once.

import (
	"context"
	"iter"

	"github.com/gopgas/gopgas/pgas"
)

// Local iterates over the elements of this member. It is local. It meets every key once that is there from start to
// end, with a value that it had meanwhile, and perhaps keys that come or go; the loop may write to the map.
func (m *Map[K, V]) Local() iter.Seq2[K, V] {
	m.mustLoop("Local")
	return func(yield func(K, V) bool) {
		m.eachOf(m.members.Me, yield)
	}
}

// All iterates over the elements of all members, as Local does over those of this one. It is one-sided, and gets the
// segments of other hosts one after the other. It panics with *pgas.PeerError if a member is lost.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	m.mustLoop("All")
	return func(yield func(K, V) bool) {
		for i := range m.members.N {
			if !m.eachOf((m.members.Me+i)%m.members.N, yield) {
				return
			}
		}
	}
}

// mustLoop panics with *pgas.UsageError if a loop of op must not begin.
func (m *Map[K, V]) mustLoop(op string) {
	m.enter(op)
	defer m.turn.leave()
	m.mustBeReadable(op)
}

// mustWrite panics with *pgas.UsageError if a call of op must not write.
func (m *Map[K, V]) mustWrite(op string) {
	m.enter(op)
	defer m.turn.leave()
	m.mustBeFree(op)
}

// eachOf calls yield for the elements of member pe, until it returns false.
func (m *Map[K, V]) eachOf(pe int, yield func(K, V) bool) bool {
	key := m.shards.keyWords
	return m.each(segmentAt{pe, 0}, 0, func(slot []uint64) bool {
		return yield(mapDecode[K](slot[1:1+key]), mapDecode[V](slot[1+key:]))
	})
}

// LocalLen returns the number of elements of this member. It is local.
func (m *Map[K, V]) LocalLen() (n int) {
	m.enter("LocalLen")
	defer m.turn.leave()
	m.mustBeReadable("LocalLen")
	return m.localLen()
}

// localLen is LocalLen inside a call.
func (m *Map[K, V]) localLen() (n int) {
	m.shards.eachHeader(segmentAt{m.members.Me, 0}, 0, func(header uint64) { n += mapElements(header) })
	return n
}

// Len returns the number of elements of all members. It is collective. What members write meanwhile may or may not be
// counted.
func (m *Map[K, V]) Len(ctx context.Context) (int, error) {
	m.enterLong(ctx, "Len")
	defer m.turn.leave()
	m.mustBeReadable("Len")
	return pgas.SumValue(ctx, m.members.Team, m.localLen())
}

// each calls f for the live slots of segment s, which came into being at depth born, and of its splits, until f returns
// false. It reports whether f never did. f may call the map: no call is under way then.
func (m *Map[K, V]) each(s segmentAt, born int, f func(slot []uint64) bool) bool {
	slots, depth := m.snapshot(s)
	size := m.shards.slotWords()
	for i := 0; i < len(slots); i += size {
		if slots[i] > slotDead && !f(slots[i:i+size]) {
			return false
		}
	}
	for d := born; d < depth; d++ {
		if !m.each(segmentAt{s.pe, s.at | 1<<d}, d+1, f) {
			return false
		}
	}
	return true
}

// snapshot is that of the shards, as a call.
func (m *Map[K, V]) snapshot(s segmentAt) (private []uint64, depth int) {
	m.enter("All")
	defer m.turn.leave()
	return m.shards.snapshot(s)
}

// snapshot returns a copy of the slots of a segment, each as it was at some moment, without what has moved from it at a
// depth of depth or less.
func (t *mapShards) snapshot(s segmentAt) (private []uint64, depth int) {
	size := t.slotWords()
	private = make([]uint64, t.slots*size)
	t.members.MustLive(s.pe)
	for wait := (pace{}); ; {
		t.copySlots(s, private)
		depth = mapDepth(t.headerOf(s).Fetch(s.pe))
		torn := false
		for i := 0; i < len(private); i += size {
			slot := private[i : i+size]
			if slot[0] <= slotDead {
				continue
			}
			hash := mapHash(slot[1 : 1+t.keyWords])
			switch {
			case slotCheck(hash, slot[1+t.keyWords:]) != slot[0]:
				torn = true
			case segmentOf(hash, depth) != s.at:
				slot[0] = slotDead
			}
		}
		if !torn {
			return private, depth
		}
		t.letWrite(&wait)
	}
}

// eachHeader calls f for the headers of segment s and its splits.
func (t *mapShards) eachHeader(s segmentAt, born int, f func(header uint64)) {
	header := t.headerOf(s).Fetch(s.pe)
	f(header)
	for d := born; d < mapDepth(header); d++ {
		t.eachHeader(segmentAt{s.pe, s.at | 1<<d}, d+1, f)
	}
}
