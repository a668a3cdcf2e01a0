package containers

import (
	"context"

	"github.com/gopgas/gopgas/ckpt"
)

// Checkpoint makes a counter an item of a ckpt.Set. It is restored on any number of PEs and members: Sum is what it
// was. Own is, too, if the members are all PEs, and as many as before.
func (c *Counter) Checkpoint() ckpt.Parts {
	if c == nil || c.members.World == nil {
		notMade("Counter.Checkpoint")
	}
	return ckpt.Parts{Kind: "Counter", Save: c.save, Restore: c.restore}
}

// save returns what this member has added.
func (c *Counter) save(context.Context) ([]ckpt.Section, error) {
	if c.members.Team == nil {
		return nil, nil
	}
	return []ckpt.Section{ckpt.Elements([]int64{c.own.Load()})}, nil
}

// restore takes over what every n-th PE had added.
func (c *Counter) restore(ctx context.Context, from *ckpt.Saved) error {
	if c.members.Team == nil {
		return nil
	}
	sum := int64(0)
	for pe := c.members.Me; pe < from.PEs(); pe += c.members.N {
		added, _, err := savedElements[int64](ctx, from, pe, "")
		if err != nil {
			return err
		}
		for _, n := range added {
			sum += n
		}
	}
	c.own.Store(sum)
	c.word.Set(c.members.Me, sum)
	return c.members.Ctx.Quiet(ctx)
}
