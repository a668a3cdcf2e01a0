package containers

// Batches: what all members have for the map, or ask of it, travels to the members that have the keys, many in a
// message, by a mailbox. Each member applies to its own shard what arrives. A batch is a promise, too: while it lasts
// nobody else accesses the shard, so its member takes no locks.
//
// An element that finds no room is dropped by the member that has none, and all members learn of it in the end.

import (
	"context"
	"fmt"
	"iter"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// mapLetter is what one member sends to another.
type mapLetter[K, V any] struct {
	key   K
	value V
	ask   int32 // with a find and its answer, the place among the sender's keys; otherwise -1
	kind  mapLetterKind
}

type mapLetterKind int8

const (
	mapApply  mapLetterKind = iota // the batch's own action
	mapAsk                         // find
	mapFound                       // the answer: value
	mapAbsent                      // the answer: no such key
)

// mapBatch is this member's part in batches.
type mapBatch[K, V any] struct {
	box    *Mailbox[mapLetter[K, V]]
	ctx    context.Context // the context of the batch under way
	apply  func(k K, v V, hash uint64) error
	full   int    // 1 if an element found no room
	read   uint64 // what touch has read, so that it does read
	values []V    // the values that FindAll returns
	found  []bool
}

// batcher is a map whose mailbox is being made.
type batcher interface {
	planBox(mem *carry.Memory, f *carry.Flow, first int, s settings)
	bindBox(mem *carry.Memory, owns bool)
}

// newBatches makes the mailboxes of maps, which share the memory of the first one's and a flow. It is collective over
// all PEs of the World, and a barrier of the members.
func newBatches(ctx context.Context, m *carry.Members, s settings, maps ...batcher) error {
	mem := &carry.Memory{Members: m}
	f := carry.NewFlow(mem, len(maps)*boxSignals(m.N))
	for i, b := range maps {
		b.planBox(mem, f, i*boxSignals(m.N), s)
	}
	if err := mem.Allocate(ctx, s.over); err != nil {
		return err
	}
	for i, b := range maps {
		b.bindBox(mem, i == 0)
	}
	return mem.Ready(ctx)
}

func (m *Map[K, V]) planBox(mem *carry.Memory, f *carry.Flow, first int, s settings) {
	m.batch.box = planMailboxOn(mem, f, first, s, false, m.receiveAll)
}

func (m *Map[K, V]) bindBox(mem *carry.Memory, owns bool) {
	m.batch.box.bind(mem)
	if owns {
		m.batch.box.memory = mem
	}
}

// mapAhead is how many letters' places are read ahead of what they say: more than the reads that a CPU has under way.
const mapAhead = 32

// receiveAll does what letters say, a few at a time.
func (m *Map[K, V]) receiveAll(from int, letters []mapLetter[K, V]) error {
	var hashes [mapAhead]uint64
	for len(letters) > 0 {
		few := letters[:min(len(letters), mapAhead)]
		m.touch(few, &hashes)
		for i := range few {
			if err := m.receive(from, &few[i], hashes[i]); err != nil {
				return err
			}
		}
		letters = letters[len(few):]
	}
	return nil
}

// touch sets the hashes of the keys of few letters, and reads where the searches for them begin.
func (m *Map[K, V]) touch(few []mapLetter[K, V], hashes *[mapAhead]uint64) {
	for i := range few {
		m.putKey(m.key, few[i].key)
		hashes[i] = mapHash(m.key)
	}
	m.batch.read ^= m.shards.touch(hashes[:len(few)])
}

// receive does what a letter says; hash is that of its key.
func (m *Map[K, V]) receive(from int, l *mapLetter[K, V], hash uint64) error {
	b := &m.batch
	switch l.kind {
	case mapAsk:
		answer := mapLetter[K, V]{ask: l.ask, kind: mapAbsent}
		if v, ok := m.find(l.key, hash); ok {
			answer.value, answer.kind = v, mapFound
		}
		return b.box.send(b.ctx, from, answer)
	case mapFound, mapAbsent:
		b.values[l.ask], b.found[l.ask] = l.value, l.kind == mapFound
		return nil
	}
	return b.apply(l.key, l.value, hash)
}

// find is Find during a batch.
func (m *Map[K, V]) find(k K, hash uint64) (v V, ok bool) {
	m.putKey(m.key, k)
	if !m.shards.find(hash, m.key) {
		return v, false
	}
	return mapDecode[V](m.shards.value), true
}

// begin begins a batch: all one-sided writes are complete, and this member alone accesses its shard.
func (m *Map[K, V]) begin(ctx context.Context, op string, apply func(k K, v V, hash uint64) error) error {
	if op == "FindAll" {
		m.mustBeReadable(op)
	} else {
		m.mustBeFree(op)
	}
	if err := m.joint(ctx, op, true, func(context.Context) error { return nil }); err != nil {
		return fmt.Errorf("%s: %w", m.call(op), err)
	}
	m.start(ctx, op, apply)
	return nil
}

// start begins a batch after a barrier.
func (m *Map[K, V]) start(ctx context.Context, op string, apply func(k K, v V, hash uint64) error) {
	m.busy = op
	m.shards.alone = true
	m.batch.ctx, m.batch.apply = ctx, apply
}

// end ends a batch. What each member has written to its shard is complete before another member leaves.
func (m *Map[K, V]) end(ctx context.Context, op string) error {
	err := m.joint(ctx, op, false, m.batch.box.flush)
	if err == nil {
		err = m.members.Ctx.Quiet(ctx)
	}
	if err == nil {
		var full int
		full, err = pgas.MaxValue(ctx, m.members.Team, m.batch.full)
		if full > 0 && err == nil {
			err = &MapFullError{Member: full - 1, Capacity: m.shards.capacity}
		}
	}
	m.batch.full = 0
	m.shards.alone = false
	m.busy = ""
	if err != nil {
		return fmt.Errorf("%s: %w", m.call(op), err)
	}
	return nil
}

// abortBatch ends a batch of op in which this member could not send, and returns the error of the call.
func (m *Map[K, V]) abortBatch(op string, err error) error {
	m.shards.alone, m.busy = false, ""
	return fmt.Errorf("%s: %w", m.call(op), err)
}

// send sends one letter to the member that has its key.
func (m *Map[K, V]) send(ctx context.Context, l mapLetter[K, V]) error {
	m.putKey(m.key, l.key)
	return m.batch.box.send(ctx, mapOwner(mapHash(m.key), m.members.N), l)
}

// UpdateAll does Update for all elements that the members give, each its own, with combine, which must do the same on
// all members. A key may occur more than once; the order in which values for one key are combined is undefined but for
// those of one member. combine runs on the member that has the key, and must not use the map; nor may elements.
//
// UpdateAll is collective. Elements travel many in a message; when it returns all are in the map, and every member
// finds them. It returns on every member *MapFullError if an element found no room, which is then dropped; on some,
// *pgas.PeerError if a PE is lost, and the cause of ctx.
func (m *Map[K, V]) UpdateAll(ctx context.Context, elements iter.Seq2[K, V], combine func(old, v V) V) error {
	if combine == nil {
		carry.Misuse("UpdateAll", "combine is nil: give a function of the old value and v, or call SetAll")
	}
	return m.putAll(ctx, "UpdateAll", elements, func(value []uint64, v V, found bool) mapAction {
		if found {
			v = combine(mapDecode[V](value), v)
		}
		mapEncode(value, &v)
		return mapPut
	})
}

// SetAll does Set for all elements that the members give. It is collective, as UpdateAll is, with the same errors.
func (m *Map[K, V]) SetAll(ctx context.Context, elements iter.Seq2[K, V]) error {
	return m.putAll(ctx, "SetAll", elements, func(value []uint64, v V, _ bool) mapAction {
		mapEncode(value, &v)
		return mapPut
	})
}

// InsertAll does Insert for all elements that the members give. It is collective, as UpdateAll is, with the same
// errors.
func (m *Map[K, V]) InsertAll(ctx context.Context, elements iter.Seq2[K, V]) error {
	return m.putAll(ctx, "InsertAll", elements, mapInsert[V])
}

// mapInsert is what an insert does to the words of a value.
func mapInsert[V any](value []uint64, v V, found bool) mapAction {
	if found {
		return mapLeave
	}
	mapEncode(value, &v)
	return mapPut
}

// putAll does a batch of elements: action is called for each by the member that has its key.
func (m *Map[K, V]) putAll(ctx context.Context, op string, elements iter.Seq2[K, V], action func(value []uint64, v V, found bool) mapAction) error {
	if elements == nil {
		carry.Misuse(op, "elements is nil: a member that has none gives an empty sequence")
	}
	m.enterLong(ctx, op)
	defer m.turn.leave()
	if err := m.begin(ctx, op, m.applies(action)); err != nil {
		return err
	}
	for k, v := range elements {
		if err := m.send(ctx, mapLetter[K, V]{key: k, value: v, ask: -1}); err != nil {
			return m.abortBatch(op, err)
		}
	}
	return m.end(ctx, op)
}

// applies returns a function that calls action for an element that has come to this member.
func (m *Map[K, V]) applies(action func(value []uint64, v V, found bool) mapAction) func(k K, v V, hash uint64) error {
	return func(k K, v V, hash uint64) error {
		m.putKey(m.key, k)
		_, err := m.shards.change(m.batch.ctx, hash, m.key, func(value []uint64, found bool) mapAction { return action(value, v, found) })
		return m.noteFull(err)
	}
}

// noteFull remembers that an element found no room, and returns other errors.
func (m *Map[K, V]) noteFull(err error) error {
	if _, full := err.(*MapFullError); full {
		m.batch.full = m.members.Me + 1
		return nil
	}
	return err
}

// DeleteAll does Delete for all keys that the members give. It is collective, as UpdateAll is.
func (m *Map[K, V]) DeleteAll(ctx context.Context, keys iter.Seq[K]) error {
	if keys == nil {
		carry.Misuse("DeleteAll", "keys is nil: a member that has none gives an empty sequence")
	}
	var none V
	return m.putAll(ctx, "DeleteAll", func(yield func(K, V) bool) {
		for k := range keys {
			if !yield(k, none) {
				return
			}
		}
	}, func([]uint64, V, bool) mapAction { return mapRemove })
}

// FindAll does Find for the keys that each member gives. values[i] and found[i] are of keys[i]. It is collective:
// questions and answers travel many in a message. Its errors are those of UpdateAll but for *MapFullError.
func (m *Map[K, V]) FindAll(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	m.enterLong(ctx, "FindAll")
	defer m.turn.leave()
	if err := m.begin(ctx, "FindAll", nil); err != nil {
		return nil, nil, err
	}
	values, found = make([]V, len(keys)), make([]bool, len(keys))
	m.batch.values, m.batch.found = values, found
	for i, k := range keys {
		if err := m.send(ctx, mapLetter[K, V]{key: k, ask: int32(i), kind: mapAsk}); err != nil {
			return nil, nil, m.abortBatch("FindAll", err)
		}
	}
	err = m.end(ctx, "FindAll")
	m.batch.values, m.batch.found = nil, nil
	return values, found, err
}
