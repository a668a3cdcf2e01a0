package ucp

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

func (c *channel) PutNB(pe int, dst uint64, src []byte) (loan uint64) { return c.c.PutNB(pe, dst, src) }

func (c *channel) PutNotifyNB(pe int, dst uint64, src []byte, s transport.Stamp) (uint64, bool) {
	return c.c.PutNotifyNB(pe, dst, src, s.Tag())
}

func (c *channel) Returned(pe int, loan uint64) bool { return c.c.Returned(pe, loan) }

func (c *channel) AwaitReturned(ctx context.Context, pe int, loan uint64) error {
	return c.c.AwaitReturned(ctx, pe, loan)
}

func (c *channel) Batch(on bool) { c.c.Batch(on) }

var (
	_ transport.Lender  = (*channel)(nil)
	_ transport.Batcher = (*channel)(nil)
)
