package containers

// Unique numbers from one word, at its home.

import (
	"context"
	"sync"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// Batch makes a member reserve n numbers of Tickets at a time, so that most calls of Next are local.
func Batch(n int) Option {
	return Option{"Batch", func(s *settings) {
		if n < 1 {
			carry.Misuse("Batch", "%d numbers: give 1 or more", n)
		}
		s.batch = n
	}}
}

// Tickets are numbers of which every member gets others. They count up from 0, and wrap around after 2^64. Next and
// NextN may be called by any number of goroutines of a member at once.
type Tickets struct {
	members carry.Members
	home    int
	batch   uint64
	memory  carry.Memory
	word    pgas.Atomic[uint64]

	mu       sync.Mutex // never held while its goroutine waits for another PE
	reserved []span     // numbers that this member has reserved; several spans where goroutines did so at once
}

// span is n numbers from first on, at least one.
type span struct{ first, n uint64 }

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
	t := &Tickets{members: carry.MembersOf(ctx, op, w, !s.over, s.team), home: s.home, batch: uint64(max(s.batch, 1))}
	if t.members.Team != nil {
		t.members.MustReach(op, s.home)
	}
	t.memory.Members = &t.members
	place := carry.Reserve[uint64](&t.memory, 1)
	if err := t.memory.Allocate(ctx, s.over); err != nil || t.members.Team == nil {
		return t, err
	}
	word := carry.Cleared[uint64](&t.memory, place, 1)
	word.Local()[0] = start
	t.word = pgas.AtomicsOf(word).At(0)
	return t, t.memory.Ready(ctx)
}

func (t *Tickets) check(op string) {
	if t == nil {
		carry.Misuse(op, "the container is nil or zero: make one with a New… function")
	}
	t.members.MustBeMember(op)
}

// Next returns a number that no other call returns. With a batch of 1 it is a fetch-add at the home, and numbers follow
// the order of the calls; with a batch of n it is that once for every n calls, and otherwise local. Goroutines that
// find no number left at the same time reserve a batch each. Numbers that a member has reserved and not used are lost.
// It panics with
// *pgas.PeerError if the home is lost.
func (t *Tickets) Next() uint64 {
	t.check("Tickets.Next")
	if t.batch > 1 {
		if n, ok := t.fromReserve(); ok {
			return n
		}
	}
	t.members.MustLive(t.home)
	first := t.word.FetchAdd(t.home, t.batch)
	if t.batch > 1 {
		t.keep(span{first + 1, t.batch - 1})
	}
	return first
}

// fromReserve returns a reserved number, if there is one.
func (t *Tickets) fromReserve() (n uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := len(t.reserved) - 1
	if last < 0 {
		return 0, false
	}
	s := &t.reserved[last]
	n = s.first
	s.first++
	if s.n--; s.n == 0 {
		t.reserved = t.reserved[:last]
	}
	return n, true
}

// keep adds numbers to the reserve.
func (t *Tickets) keep(s span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reserved = append(t.reserved, s)
}

// NextN returns the first of n numbers in sequence that no other call returns. It is a fetch-add at the home. It panics
// with *pgas.PeerError if the home is lost, and with *pgas.UsageError if n is less than 1.
func (t *Tickets) NextN(n int) uint64 {
	t.check("Tickets.NextN")
	if n < 1 {
		carry.Misuse("Tickets.NextN", "%d numbers: give 1 or more", n)
	}
	t.members.MustLive(t.home)
	return t.word.FetchAdd(t.home, uint64(n))
}

// Free frees the memory of the tickets. It is collective over all PEs of the World.
func (t *Tickets) Free(ctx context.Context) error {
	if t == nil || t.members.World == nil {
		carry.Misuse("Tickets.Free", "the container is nil or zero: make one with a New… function")
	}
	return freeMemory(ctx, "Tickets.Free", &t.memory)
}
