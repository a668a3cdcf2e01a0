package ucp

import "context"

func (c *channel) PutNB(pe int, dst uint64, src []byte) (loan uint64) { return c.c.PutNB(pe, dst, src) }

func (c *channel) Returned(pe int, loan uint64) bool { return c.c.Returned(pe, loan) }

func (c *channel) AwaitReturned(ctx context.Context, pe int, loan uint64) error {
	return c.c.AwaitReturned(ctx, pe, loan)
}

func (c *channel) Batch(on bool) { c.c.Batch(on) }
