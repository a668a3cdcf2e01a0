package containers

// Promises: what all members say that they will do for a while makes it cheaper. The Berkeley Container Library (B.
// Brock and others, "BCL: a cross-platform distributed data structures library", 2019) has the idea. Some are made by
// the calls themselves: the batches of map_batch.go. Here are two that last until the program ends them.
//
// If nobody writes, a find need not ask whether a segment was split while it looked.
//
// If members only insert, nobody looks for what another has inserted. So an insert need not be there when its call
// returns, and many travel in one message: the promise is one long batch, which each member fills call by call.

import (
	"context"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/carry"
)

// mapPromise is what all members have promised.
type mapPromise int32

const (
	anything mapPromise = iota
	onlyFinds
	onlyInserts
)

// mapPromises is the promise that holds. A StringMap asks for that of its keys before it begins a call of them.
type mapPromises struct{ now atomic.Int32 }

func (p *mapPromises) held() mapPromise    { return mapPromise(p.now.Load()) }
func (p *mapPromises) set(next mapPromise) { p.now.Store(int32(next)) }

// OnlyFinds promises that no member writes until the next Writes or OnlyInserts. A Find for a shard of another host
// then costs one round trip also if it finds nothing. Writes panic with *pgas.UsageError. It is collective, and a
// barrier: all earlier writes are complete when it returns. Its errors are those of Writes.
func (m *Map[K, V]) OnlyFinds(ctx context.Context) error {
	return m.promise(ctx, "OnlyFinds", onlyFinds)
}

// OnlyInserts promises that members only call Insert until the next Writes or OnlyFinds; other calls panic with
// a *pgas.UsageError. An Insert is then local until half a Ring is full of elements for one member; these travel in one
// put, and that member applies them to its shard, without locks, when it inserts or ends the promise. So
//
//   - Insert does not know whether k had a value, and returns false; a k that has one keeps it
//   - an element is in the map when the call that ends the promise returns, on any member
//   - of elements for one key that one member inserts the first counts; between those of several members any
//   - Insert blocks while the ring at k's member is full: a member that computes for long without inserting keeps others
//     waiting; ctx ends the wait, but k is inserted all the same
//   - a member that finds that a PE is lost returns *pgas.PeerError: Insert if it waits, and the call that ends the promise
//   - an element that finds no room is dropped; the call that ends the promise returns *MapFullError on every member
//
// It is collective, and a barrier. Its errors are those of Writes.
func (m *Map[K, V]) OnlyInserts(ctx context.Context) error {
	return m.promise(ctx, "OnlyInserts", onlyInserts)
}

// Writes ends the promise of OnlyFinds or OnlyInserts, so that members may do all again. It is collective, and a
// barrier. What members have inserted under OnlyInserts is in the map when it returns, and every member finds it; this
// costs what the end of a batch does.
//
// It returns on every member *MapFullError if an element that was inserted under OnlyInserts found no room; no promise
// holds then. It returns on some
// *pgas.PeerError if a PE is lost, and the cause of ctx.
func (m *Map[K, V]) Writes(ctx context.Context) error {
	return m.promise(ctx, "Writes", anything)
}

// promise ends the promise that holds, and makes the next one.
func (m *Map[K, V]) promise(ctx context.Context, op string, next mapPromise) error {
	m.enterLong(ctx, op)
	defer m.turn.leave()
	held := m.promised.held()
	if m.busy != "" && held != onlyInserts {
		carry.Misuse(op, "%s is under way", m.busy)
	}
	m.promised.set(anything)
	m.shards.still = false
	var err error
	if held == onlyInserts {
		err = m.end(ctx, op)
	} else {
		err = m.joint(ctx, op, true, func(context.Context) error { return nil })
	}
	if err != nil {
		return err
	}
	m.promised.set(next)
	m.shards.still = next == onlyFinds
	if next == onlyInserts {
		m.start(ctx, op, m.applies(mapInsert[V]))
	}
	return nil
}

// joint does f as a collective call of op, after a barrier if barrier is set.
func (m *Map[K, V]) joint(ctx context.Context, op string, barrier bool, f func(context.Context) error) error {
	return m.members.Team.Joint(ctx, m.call(op), m.object, barrier, f)
}

// insertLater is Insert under OnlyInserts.
func (m *Map[K, V]) insertLater(ctx context.Context, k K, v V) error {
	carry.MustHaveContext("Insert", ctx)
	return m.send(ctx, mapLetter[K, V]{key: k, value: v, ask: -1})
}

// mustBeFree panics with *pgas.UsageError if a call of op, which writes, is promised not to come, or comes from within
// a batch.
func (m *Map[K, V]) mustBeFree(op string) {
	m.mustBeReadable(op)
	if m.promised.held() == onlyFinds {
		carry.Misuse(op, "OnlyFinds has promised that nobody writes: call Writes first")
	}
}

// mustBeReadable panics with *pgas.UsageError if a call that does not write is wrong.
func (m *Map[K, V]) mustBeReadable(op string) {
	switch {
	case m.promised.held() == onlyInserts:
		carry.Misuse(op, "OnlyInserts has promised that members only call Insert: call Writes first")
	case m.busy != "":
		carry.Misuse(op, "%s is under way: what it calls must not use the map", m.busy)
	}
}
