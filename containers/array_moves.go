package containers

// What the batched calls of an array need between them: mailboxes and rings, which are made with the array.

import "github.com/gopgas/gopgas/internal/carry"

// move is an element for a place of its receiver.
type move[T any] struct {
	at uint32
	v  T
}

// moves is one member's part in the batched calls of an array.
type moves[T any] struct {
	places *Mailbox[uint32]  // places of the receiver's part
	values *Mailbox[move[T]] // values for places of the receiver's part
	sorted *Mailbox[T]       // values alone, to be sorted
	gather *gather[T]

	// What the call under way does with what it receives. All members are in the same call: a flush ends each, and
	// what a member sends in the next call is received in the next call.
	onPlaces func(from int, places []uint32) error
	onValues func(from int, values []move[T]) error
	onSorted func(from int, values []T) error
}

// planMoves reserves what the batched calls need.
func planMoves[T any](mem *carry.Memory, s settings) *moves[T] {
	m := &moves[T]{}
	m.places = planMailbox(mem, s, true, func(from int, items []uint32) error { return m.onPlaces(from, items) })
	m.values = planMailbox(mem, s, true, func(from int, items []move[T]) error { return m.onValues(from, items) })
	m.sorted = planMailbox(mem, s, true, func(from int, items []T) error { return m.onSorted(from, items) })
	m.gather = planGather[T](mem, s)
	return m
}

func (m *moves[T]) bind(mem *carry.Memory, part []T) {
	m.places.bind(mem)
	m.values.bind(mem)
	m.sorted.bind(mem)
	m.gather.bind(mem, part)
}
