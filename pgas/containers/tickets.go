package containers

// Unique numbers from one word, at its home.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// Batch makes a member reserve n numbers of Tickets at a time, so that most calls of Next are local.
func Batch(n int) Option {
	return Option{"Batch", func(s *settings) {
		if n < 1 {
			misuse("Batch", "%d numbers: give 1 or more", n)
		}
		s.batch = n
	}}
}

// Tickets are numbers of which every member gets others. They count up from 0, and wrap around after 2^64.
type Tickets struct {
	members
	home   int
	batch  uint64
	memory memory
	word   pgas.Atomic[uint64]
	next   uint64 // the first number that this member has reserved
	left   uint64 // and how many
}

// NewTickets makes tickets whose word is at member 0, or at another one (Home). It is collective over all PEs of the
// World. It returns the errors of pgas.Alloc. It panics with *pgas.UsageError if the home is no member, or a batch is
// less than 1. Options: Over, Home, Batch.
func NewTickets(ctx context.Context, w *pgas.World, opts ...Option) (*Tickets, error) {
	return newTickets(ctx, w, 0, opts)
}

// newTickets makes tickets that start at start.
func newTickets(ctx context.Context, w *pgas.World, start uint64, opts []Option) (*Tickets, error) {
	const op = "NewTickets"
	s := settingsOf(op, opts, "Home", "Batch")
	t := &Tickets{members: membersOf(ctx, op, w, s), home: s.home, batch: uint64(max(s.batch, 1))}
	if t.team != nil {
		t.mustReach(op, s.home)
	}
	t.memory.m = &t.members
	place := reserve[uint64](&t.memory, 1)
	if err := t.memory.allocate(ctx, s.over); err != nil || t.team == nil {
		return t, err
	}
	word := cleared[uint64](&t.memory, place, 1)
	word.Local()[0] = start
	t.word = pgas.AtomicsOf(word).At(0)
	return t, t.memory.ready(ctx)
}

func (t *Tickets) check(op string) {
	if t == nil {
		misuse(op, "the container is nil or zero: make one with a New… function")
	}
	t.mustBeMember(op)
}

// Next returns a number that no other call returns. With a batch of 1 it is a fetch-add at the home, and numbers follow
// the order of the calls; with a batch of n it is that once for every n calls, and otherwise local. Numbers that a member
// has reserved and not used are lost. It panics with *pgas.PeerError if the home is lost.
func (t *Tickets) Next() uint64 {
	t.check("Tickets.Next")
	if t.left == 0 {
		t.next, t.left = t.word.FetchAdd(t.home, t.batch), t.batch
	}
	t.next++
	t.left--
	return t.next - 1
}

// NextN returns the first of n numbers in sequence that no other call returns. It is a fetch-add at the home. It panics
// with *pgas.PeerError if the home is lost, and with *pgas.UsageError if n is less than 1.
func (t *Tickets) NextN(n int) uint64 {
	t.check("Tickets.NextN")
	if n < 1 {
		misuse("Tickets.NextN", "%d numbers: give 1 or more", n)
	}
	return t.word.FetchAdd(t.home, uint64(n))
}

// Free frees the memory of the tickets. It is collective over all PEs of the World.
func (t *Tickets) Free(ctx context.Context) error {
	if t == nil || t.world == nil {
		misuse("Tickets.Free", "the container is nil or zero: make one with a New… function")
	}
	return freeMemory(ctx, "Tickets.Free", &t.memory)
}
