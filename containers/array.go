package containers

// Array: a sequence of elements whose parts are in the symmetric heaps of the members.

import (
	"context"
	"math"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// Array is a sequence of Len elements of T that is spread over the members: by default in blocks, the first member with
// the first elements, as Team.Share divides items; with Cyclic or BlockCyclic in turns.
//
// Accesses to one element are puts and gets: they order nothing, and two of them that conflict race, unless a barrier
// or another synchronization is between them. The batched calls (Gather, Scatter, AddAll …) are collective: together
// they move what all members ask for, many elements in one message. What members of the same host ask of each other
// moves by loads, stores and the CPU's atomics.
//
// On each member one goroutine at a time is in a batched call. A second one panics with *UsageError, which names the
// lines of both. Get, Put, GetRange, PutRange and loops may run in any number of goroutines, if they do not conflict.
//
// A member has its part of the elements in symmetric memory, and 4 times Ring bytes for each other member, which are
// not touched before a batched call.
type Array[T any] struct {
	members *carry.Members
	layout  layout
	memory  *carry.Memory
	place   int           // the place of part in memory
	part    pgas.Slice[T] // the part of each member
	mapped  [][]T         // the parts of members on this host as Go memory; nil for others
	moves   *moves[T]
	turn    exclusive // the turn of the batched calls
	freed   bool
}

// Cyclic gives element i of an array to member i mod n. It is an option of NewArray.
func Cyclic() Option { return BlockCyclic(1) }

// BlockCyclic deals elements in blocks of length b to the members in turn. It is an option of NewArray.
func BlockCyclic(b int) Option {
	return Option{"BlockCyclic", func(s *settings) {
		if b < 1 {
			carry.Misuse("BlockCyclic", "blocks of %s: give one or more", plural.Count(b, "element"))
		}
		s.block = b
	}}
}

// NewArray makes an array of n zero elements; its options are Over, Cyclic, BlockCyclic and Ring. It panics with
// *pgas.UsageError if T holds pointers, or if n is negative or gives a member 2^32 elements or more.
//
// It is collective over all PEs of the World. Its errors are those of pgas.Alloc.
func NewArray[T any](ctx context.Context, w *pgas.World, n int, opts ...Option) (*Array[T], error) {
	const op = "NewArray"
	s := settingsOf(op, opts, "BlockCyclic", "Ring")
	if n < 0 {
		carry.Misuse(op, "%s: the count must not be negative", plural.Count(n, "element"))
	}
	m := carry.MembersOf(ctx, op, w, !s.over, s.team)
	a := &Array[T]{members: &m, layout: newLayout(n, max(m.N, 1), s.block), memory: &carry.Memory{Members: &m}}
	if a.layout.most() > math.MaxUint32 {
		carry.Misuse(op, "%s over %s: a member can have fewer than 2^32", plural.Count(n, "element"), plural.Count(m.N, "member"))
	}
	if err := carry.MustBePlain[T](ctx, w); err != nil {
		return nil, err
	}
	if m.Team != nil {
		a.place = carry.Reserve[T](a.memory, a.layout.most())
		a.moves = planMoves[T](a.memory, s)
	}
	if err := a.memory.Allocate(ctx, s.over); err != nil {
		return nil, err
	}
	if m.Team != nil {
		a.bind()
	}
	return a, a.memory.Ready(ctx)
}

// bind has the array use its places in the memory.
func (a *Array[T]) bind() {
	a.part = carry.Cleared[T](a.memory, a.place, a.layout.most())
	a.moves.bind(a.memory, a.part.Local())
	a.mapped = make([][]T, a.members.N)
	for pe := range a.mapped {
		a.mapped[pe] = a.part.Ptr(pe)
	}
}

// Len returns the number of elements of all members together. It is local.
func (a *Array[T]) Len() int {
	a.mustBeOpen("Len")
	return a.layout.n
}

// Locate returns the member that has element i, and the place of the element in its Local. It is local. It panics with
// *pgas.UsageError if i is out of range.
func (a *Array[T]) Locate(i int) (pe, at int) {
	a.mustHave("Locate", i)
	return a.layout.locate(i)
}

// Owner returns the member that has element i. It is local, and panics as Locate does.
func (a *Array[T]) Owner(i int) int {
	pe, _ := a.Locate(i)
	return pe
}

// Index returns the index of the element at place at of member pe: the inverse of Locate. It is local. It panics with
// *pgas.UsageError if the member has no such element.
func (a *Array[T]) Index(pe, at int) int {
	a.mustBeOpen("Index")
	a.members.MustReach("Index", pe)
	if uint(at) >= uint(a.layout.len(pe)) {
		carry.Misuse("Index", "place %d is out of range: PE %d has %s", at, pe, plural.Count(a.layout.len(pe), "element"))
	}
	return a.layout.index(pe, at)
}

// Local returns this member's elements in the order of their indexes, as Go memory, until the array is freed. It is
// local.
func (a *Array[T]) Local() []T {
	a.mustBeOpen("Local")
	return a.part.Local()[:a.layout.len(a.members.Me)]
}

// Get returns element i: one get from its owner. It is one-sided. It panics with *pgas.UsageError if i is out of range,
// and with *pgas.PeerError if the owner is lost.
func (a *Array[T]) Get(i int) T {
	a.mustHave("Get", i)
	pe, at := a.layout.locate(i)
	return a.part.At(at).Get(pe)
}

// Put stores v as element i: one put to its owner. It is one-sided, complete locally on return, and complete at the
// owner after a Quiet or a barrier. It panics with *pgas.UsageError if i is out of range.
func (a *Array[T]) Put(i int, v T) {
	a.mustHave("Put", i)
	pe, at := a.layout.locate(i)
	a.part.At(at).Put(pe, v)
}

// Ref returns the member that has element i, and a reference to the element, for what Array has no method for. It is
// local.
func (a *Array[T]) Ref(i int) (pe int, r pgas.Ref[T]) {
	a.mustHave("Ref", i)
	pe, at := a.layout.locate(i)
	return pe, a.part.At(at)
}

// mustBeOpen panics with *pgas.UsageError if the array cannot be used by this PE.
func (a *Array[T]) mustBeOpen(op string) {
	if a == nil || a.members == nil || a.members.Team == nil || a.freed {
		a.refuse(op)
	}
}

// refuse panics with *pgas.UsageError: the array cannot be used by this PE.
func (a *Array[T]) refuse(op string) {
	if a == nil || a.members == nil {
		(*carry.Members)(nil).MustBeMember(op)
	}
	a.members.MustBeMember(op)
	carry.Misuse(op, "the array has been freed")
}

// mustHave panics with *pgas.UsageError unless the array has element i.
func (a *Array[T]) mustHave(op string, i int) {
	a.mustBeOpen(op)
	if uint(i) >= uint(a.layout.n) {
		carry.Misuse(op, "index %d is out of range: the array has %s", i, plural.Count(a.layout.n, "element"))
	}
}

// mustHaveAll panics with *pgas.UsageError unless the array has all elements of idx. It comes before a collective call,
// so that misuse leaves the members in step.
func (a *Array[T]) mustHaveAll(op string, idx []int) {
	for _, i := range idx {
		if uint(i) >= uint(a.layout.n) {
			a.mustHave(op, i)
		}
	}
}

// mustMove panics with *pgas.UsageError if a collective call of op is wrong.
func (a *Array[T]) mustMove(ctx context.Context, op string) {
	a.mustBeOpen(op)
	a.members.MustBelong(ctx, op)
}

// enter begins a batched call of op, which a.turn.leave ends. It panics with *pgas.UsageError if the call is wrong.
func (a *Array[T]) enter(ctx context.Context, op string) {
	a.mustMove(ctx, op)
	a.turn.enterLong(a.members.World)
}

// joint does f as a collective call of op.
func (a *Array[T]) joint(ctx context.Context, op string, f func(ctx context.Context) error) error {
	return a.members.Team.Joint(ctx, op, a.moves.gather.flow.Object, false, f)
}

// barrier is a barrier of a call of op.
func (a *Array[T]) barrier(ctx context.Context, op string) error {
	return a.members.Team.Joint(ctx, op, a.moves.gather.flow.Object, true, func(context.Context) error { return nil })
}

// Free frees the memory of the array. It is collective over all PEs of the World.
func (a *Array[T]) Free(ctx context.Context) error {
	if a == nil || a.members == nil {
		(*carry.Members)(nil).MustBeMember("Free")
	}
	if a.freed {
		carry.Misuse("Free", "the array has been freed")
	}
	carry.MustHaveContext("Free", ctx)
	a.freed = true
	return freeMemory(ctx, "Free", a.memory)
}
