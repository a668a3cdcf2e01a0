package containers

// Map: a hash table whose elements are spread over the members by the hashes of their keys. Every member finds,
// inserts, updates and deletes by itself, without the member that has the element. map_layout.go describes the memory,
// map_find.go and map_write.go how it is read and written, and map_split.go how it grows.

import (
	"context"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// Map is a hash table from K to V. Keys and values are plain; a key has no floating-point numbers.
//
// All methods may be called by all members at any time, unless they say that they are collective. Writes of one key
// follow one another in one order for all members, and each sees what the one before has left. A member's own calls see
// its earlier ones. Another member's finds see a write to a shard of another host when it is complete, as a put is:
// after a Quiet of the team's context, or a barrier. A write completes and orders nothing else.
//
// A call for a key whose member is on this host loads and stores; for another host it sends messages, and waits for
// answers. See docs/packages/containers.md for how many.
//
// On each member one goroutine at a time is in a call, or in a step of a loop over elements. A second one panics with
// *UsageError, which names the lines of both; so does a call from a function that a call of the map has called.
//
// A map has address space for its Capacity from the start, and memory for the elements that it has: it grows by itself,
// and shrinks when it is freed.
type Map[K comparable, V any] struct {
	members carry.Members
	mapCodec[K, V]
	shards   *mapShards
	words    pgas.Sym[uint64]
	key      []uint64 // the words of the key of the call under way
	kind     string   // what the program has made: a Map, a StringMap or a TextMap
	object   uint64   // tells this map from others
	batch    mapBatch[K, V]
	busy     string // the batch under way
	promised mapPromises
	freed    bool
	turn     exclusive
}

// Capacity chooses the number of elements that a Map must have room for, of all members. The default is 1,048,576, or
// what fits into a quarter of each member's heap if that is less. It is an option of NewMap.
func Capacity(elements int) Option {
	return Option{"Capacity", func(s *settings) {
		if elements <= 0 {
			carry.Misuse("Capacity", "%s: a map has room for at least one", plural.Count(elements, "element"))
		}
		s.capacity = elements
	}}
}

// NewMap makes an empty map; its options are Over, Capacity, and for its batches Ring and Backlog. It is collective
// over all PEs of the World, and all give the same Capacity.
//
// It returns *pgas.HeapFullError if the address space does not fit the symmetric heap, and else the errors of
// pgas.Alloc. It panics with *pgas.UsageError if K or V holds pointers or K a floating-point number.
func NewMap[K comparable, V any](ctx context.Context, w *pgas.World, opts ...Option) (*Map[K, V], error) {
	s := settingsOf("NewMap", opts, "Capacity", "Ring", "Backlog")
	m, err := makeMap[K, V](ctx, w, s)
	if err != nil {
		return nil, err
	}
	if err := newBatches(ctx, &m.members, s, m); err != nil {
		return nil, err
	}
	return m, nil
}

// makeMap makes a map that has no mailbox yet.
func makeMap[K comparable, V any](ctx context.Context, w *pgas.World, s settings) (*Map[K, V], error) {
	mapMustBePlain[K]("NewMap", "key")
	mapMustBePlain[V]("NewMap", "value")
	m := &Map[K, V]{kind: s.kind(), members: carry.MembersOf(ctx, "NewMap", w, !s.over, s.team), mapCodec: newMapCodec[K, V]("NewMap")}
	if s.capacity == 0 {
		s.capacity = mapDefault(carry.SizeOf[K](), carry.SizeOf[V](), max(1, m.members.N), w.HeapUsage().Max)
	}
	l := mapLayoutFor(carry.SizeOf[K](), carry.SizeOf[V](), s.capacity, max(1, m.members.N))
	if l.depth > mapDeepest {
		carry.Misuse("NewMap", "a capacity of %s on %s: a member has at most %d", plural.Count(s.capacity, "element"), plural.Count(m.members.N, "member"), l.slots/2<<mapDeepest)
	}
	size := 0
	if m.members.N > 0 {
		size = l.segments() * l.segmentWords()
	}
	var err error
	if m.words, err = carry.Allocate[uint64](ctx, &m.members, s.over, size); err != nil {
		return nil, err
	}
	if m.members.Team != nil {
		m.open(l, s.capacity)
	}
	return m, nil
}

// open makes this member's handle of the shards, and the first segment of its own.
func (m *Map[K, V]) open(l mapLayout, capacity int) {
	mem := newMapMemory(&m.members, l, m.words)
	m.shards = &mapShards{mapReader: newMapReader(mem), capacity: capacity, slot: make([]uint64, l.slotWords()), buffers: newSplitBuffers(l)}
	m.key = make([]uint64, l.keyWords)
	m.object = m.words.All().Offset()
	mem.headerOf(segmentAt{m.members.Me, 0}).Set(m.members.Me, mapHeader(0, 0))
}

// enter begins a call of op, which m.turn.leave ends. It panics with *pgas.UsageError if the call is wrong.
func (m *Map[K, V]) enter(op string) {
	if m == nil || m.shards == nil {
		m.refuse(op)
	}
	m.turn.enter(m.members.World)
	if m.freed {
		m.turn.leave()
		m.refuse(op)
	}
}

// enterLong checks ctx and the map, and begins a call of op that takes long in any case.
func (m *Map[K, V]) enterLong(ctx context.Context, op string) {
	if ctx == nil {
		carry.MustHaveContext(op, ctx)
	}
	m.enter(op)
	m.turn.note()
}

// call returns what messages call a call of op.
func (m *Map[K, V]) call(op string) string { return m.kind + "." + op }

// refuse panics with *pgas.UsageError: a call of op is wrong.
func (m *Map[K, V]) refuse(op string) {
	if m == nil {
		(*carry.Members)(nil).MustBeMember(op)
	}
	m.members.MustBeMember(op)
	carry.Misuse(op, "the map has been freed")
}

// hash sets key to the words of k and returns their hash.
func (m *Map[K, V]) hash(k K) uint64 {
	m.putKey(m.key, k)
	return mapHash(m.key)
}

// hashToWrite checks that a call of op may write now, and returns the hash of k.
func (m *Map[K, V]) hashToWrite(ctx context.Context, op string, k K) uint64 {
	if ctx == nil {
		carry.MustHaveContext(op, ctx)
	}
	if m.busy != "" || m.promised.held() != anything {
		m.mustBeFree(op)
	}
	return m.hash(k)
}

// Home returns the member that has k, if anyone has. It is local.
func (m *Map[K, V]) Home(k K) int {
	m.enter("Home")
	defer m.turn.leave()
	return mapOwner(m.hash(k), m.members.N)
}

// Find returns the value of k and whether there is one. It is one-sided, takes no lock, and goes on while the map
// grows. It panics with *pgas.PeerError if k's member, or a member that was writing k, is lost.
func (m *Map[K, V]) Find(k K) (v V, ok bool) {
	m.enter("Find")
	defer m.turn.leave()
	if m.busy != "" {
		m.mustBeReadable("Find")
	}
	if !m.shards.find(m.hash(k), m.key) {
		return v, false
	}
	return mapDecode[V](m.shards.value), true
}

// Insert gives k the value v if it has none, and reports whether it had none. It is one-sided, and blocks while another
// member writes in the same segment. After OnlyInserts it is cheaper, and what it says and returns is less: see there.
//
// It returns *MapFullError if there is no room, *pgas.PeerError if k's member is lost, or any PE of the job while it
// waits, and the cause of ctx if that ends first. Unless k's member is lost nothing has changed then.
func (m *Map[K, V]) Insert(ctx context.Context, k K, v V) (inserted bool, err error) {
	m.enter("Insert")
	defer m.turn.leave()
	if m.promised.held() == onlyInserts {
		return false, m.insertLater(ctx, k, v)
	}
	hash := m.hashToWrite(ctx, "Insert", k)
	found, err := m.shards.change(ctx, hash, m.key, func(value []uint64, found bool) mapAction {
		if found {
			return mapLeave
		}
		mapEncode(value, &v)
		return mapPut
	})
	return !found && err == nil, err
}

// Set gives k the value v, whatever it had. It is one-sided. It blocks and fails as Insert does.
func (m *Map[K, V]) Set(ctx context.Context, k K, v V) error {
	m.enter("Set")
	defer m.turn.leave()
	hash := m.hashToWrite(ctx, "Set", k)
	_, err := m.shards.change(ctx, hash, m.key, func(value []uint64, _ bool) mapAction {
		mapEncode(value, &v)
		return mapPut
	})
	return err
}

// Update gives k the value v if it has none, and otherwise combine(old, v), at one moment: no other write to k comes
// between. combine may be called more than once, and must not use the map. Update is one-sided. It blocks and fails as
// Insert does.
func (m *Map[K, V]) Update(ctx context.Context, k K, v V, combine func(old, v V) V) error {
	m.enter("Update")
	defer m.turn.leave()
	hash := m.hashToWrite(ctx, "Update", k)
	if combine == nil {
		carry.Misuse("Update", "combine is nil: give a function of the old value and v, or call Set")
	}
	_, err := m.shards.change(ctx, hash, m.key, func(value []uint64, found bool) mapAction {
		next := v
		if found {
			next = combine(mapDecode[V](value), v)
		}
		mapEncode(value, &next)
		return mapPut
	})
	return err
}

// Delete removes k and reports whether it was there. It is one-sided. It blocks and fails as Insert does.
func (m *Map[K, V]) Delete(ctx context.Context, k K) (deleted bool, err error) {
	m.enter("Delete")
	defer m.turn.leave()
	return m.shards.change(ctx, m.hashToWrite(ctx, "Delete", k), m.key, func([]uint64, bool) mapAction { return mapRemove })
}

// Free frees the memory of the map. It is collective over all PEs of the World.
func (m *Map[K, V]) Free(ctx context.Context) error {
	if m == nil || m.members.World == nil {
		(*carry.Members)(nil).MustBeMember("Free")
	}
	m.turn.enterLong(m.members.World)
	defer m.turn.leave()
	m.freed = true
	m.promised.set(anything)
	if m.batch.box.memory == nil { // it is another map's
		return freeAll(ctx, "Map.Free", m.words.Free)
	}
	return freeAll(ctx, "Map.Free", m.batch.box.Free, m.words.Free)
}
