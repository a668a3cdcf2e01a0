package containers

// A counter that all members add to without a message: each has a word of its own, and a sum reads all words.

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// Counter is a number that all members add to. Add, Own and Sum may be called by any number of goroutines of a member
// at once; SumAll is a collective of the team, in which goroutines of a PE take turns.
type Counter struct {
	members carry.Members
	memory  carry.Memory
	word    pgas.Atomic[int64]
	own     atomic.Int64 // what this member has added; its word may be behind where atomics are a NIC's
}

// NewCounter makes a counter that is 0. It is collective over all PEs of the World. It returns the errors of
// pgas.Alloc. Option: Over.
func NewCounter(ctx context.Context, w *pgas.World, opts ...Option) (*Counter, error) {
	const op = "NewCounter"
	s := settingsOf(op, opts)
	c := &Counter{members: carry.MembersOf(ctx, op, w, !s.over, s.team)}
	c.memory.Members = &c.members
	word := carry.Reserve[int64](&c.memory, 1)
	if err := c.memory.Allocate(ctx, s.over); err != nil || c.members.Team == nil {
		return c, err
	}
	c.word = pgas.AtomicsOf(carry.Cleared[int64](&c.memory, word, 1)).At(0)
	return c, c.memory.Ready(ctx)
}

func (c *Counter) check(op string) {
	if c == nil {
		carry.Misuse(op, "the container is nil or zero: make one with a New… function")
	}
	c.members.MustBeMember(op)
}

// Add adds n. It is local: an atomic addition to this member's word, complete at once.
func (c *Counter) Add(n int64) {
	c.check("Counter.Add")
	c.own.Add(n)
	c.word.Add(c.members.Me, n)
}

// Own returns what this member has added. It is local.
func (c *Counter) Own() int64 {
	c.check("Counter.Own")
	return c.own.Load()
}

// Sum returns about what all members have added. It is one-sided: it reads the word of every member, all at once. If no
// member adds negative numbers, the sum is at least what all had added when Sum was called, and at most what they have
// added when it returns, and the sums that one PE gets do not decrease. Otherwise it bounds nothing while members add.
// It returns *pgas.PeerError if a member is lost, and the cause of ctx if that ends first.
func (c *Counter) Sum(ctx context.Context) (int64, error) {
	c.check("Counter.Sum")
	c.members.MustBelong(ctx, "Counter.Sum")
	parts := make([]int64, c.members.N)
	for pe := range parts {
		if err := c.members.LostBehind(ctx, pe); err != nil {
			return 0, fmt.Errorf("Counter.Sum: %w", err)
		}
		c.word.FetchNB(pe, &parts[pe])
	}
	if err := c.members.Ctx.Quiet(ctx); err != nil {
		return 0, fmt.Errorf("Counter.Sum: %w", err)
	}
	sum := int64(0)
	for _, n := range parts {
		sum += n
	}
	return sum, nil
}

// SumAll returns what all members have added before their calls. It is collective, a reduction of one number, and has
// the errors of pgas.SumValue. All members get the same sum.
func (c *Counter) SumAll(ctx context.Context) (int64, error) {
	c.check("Counter.SumAll")
	c.members.MustBelong(ctx, "Counter.SumAll")
	sum, err := pgas.SumValue(ctx, c.members.Team, c.Own())
	if err != nil {
		return 0, fmt.Errorf("Counter.SumAll: %w", err)
	}
	return sum, nil
}

// Free frees the memory of the counter. It is collective over all PEs of the World.
func (c *Counter) Free(ctx context.Context) error {
	if c == nil || c.members.World == nil {
		carry.Misuse("Counter.Free", "the container is nil or zero: make one with a New… function")
	}
	return freeMemory(ctx, "Counter.Free", &c.memory)
}
