package containers

// A counter that all members add to without a message: each has a word of its own, and a sum reads all words.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

// counterWords are a member's word, and two that the collective sum needs.
const counterWords = 3

// Counter is a number that all members add to.
type Counter struct {
	members
	memory memory
	words  pgas.Slice[int64]
	word   pgas.Atomic[int64]
	own    int64 // what this member has added
	parts  []int64
}

// NewCounter makes a counter that is 0. It is collective over all PEs of the World. It returns the errors of pgas.Alloc.
// Option: Over.
func NewCounter(ctx context.Context, w *pgas.World, opts ...Option) (*Counter, error) {
	const op = "NewCounter"
	s := settingsOf(op, opts)
	c := &Counter{members: membersOf(ctx, op, w, s)}
	c.memory.m = &c.members
	words := reserve[int64](&c.memory, counterWords)
	if err := c.memory.allocate(ctx, s.over); err != nil || c.team == nil {
		return c, err
	}
	c.words = cleared[int64](&c.memory, words, counterWords)
	c.word = pgas.AtomicsOf(c.words).At(0)
	c.parts = make([]int64, c.n)
	return c, c.memory.ready(ctx)
}

func (c *Counter) check(op string) {
	if c == nil {
		misuse(op, "the container is nil or zero: make one with a New… function")
	}
	c.mustBeMember(op)
}

// Add adds n. It is local: a store to this member's word.
func (c *Counter) Add(n int64) {
	c.check("Counter.Add")
	c.own += n
	c.word.Set(c.me, c.own)
}

// Own returns what this member has added. It is local.
func (c *Counter) Own() int64 {
	c.check("Counter.Own")
	return c.own
}

// Sum returns about what all members have added. It is one-sided: it reads the word of every member, all at once. If no
// member adds negative numbers, the sum is at least what all had added when Sum was called, and at most what they have
// added when it returns, and the sums that one PE gets do not decrease. Otherwise it bounds nothing while members add.
// It returns *pgas.PeerError if a member is lost, and the cause of ctx if that ends first.
func (c *Counter) Sum(ctx context.Context) (int64, error) {
	c.check("Counter.Sum")
	c.mustBelong(ctx, "Counter.Sum")
	for pe := range c.parts {
		c.word.FetchNB(pe, &c.parts[pe])
	}
	if err := c.ctx.Quiet(ctx); err != nil {
		return 0, fmt.Errorf("Counter.Sum: %w", err)
	}
	sum := int64(0)
	for _, n := range c.parts {
		sum += n
	}
	return sum, nil
}

// SumAll returns what all members have added before their calls. It is collective, a reduction of one number, and has the
// errors of pgas.SumReduce. All members get the same sum.
func (c *Counter) SumAll(ctx context.Context) (int64, error) {
	c.check("Counter.SumAll")
	c.mustBelong(ctx, "Counter.SumAll")
	c.words.Local()[1] = c.own
	if err := pgas.SumReduce(ctx, c.team, c.words.Range(2, 3), c.words.Range(1, 2)); err != nil {
		return 0, fmt.Errorf("Counter.SumAll: %w", err)
	}
	return c.words.Local()[2], nil
}

// Free frees the memory of the counter. It is collective over all PEs of the World.
func (c *Counter) Free(ctx context.Context) error {
	if c == nil || c.world == nil {
		misuse("Counter.Free", "the container is nil or zero: make one with a New… function")
	}
	return freeMemory(ctx, "Counter.Free", &c.memory)
}
