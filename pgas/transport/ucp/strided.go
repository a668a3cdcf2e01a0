package ucp

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/ucx/engine"
)

var _ transport.Strider = (*channel)(nil)

func (c *channel) PutBlocks(pe int, dst uint64, src []byte, b transport.Blocks) {
	c.c.PutBlocks(pe, dst, src, engine.Blocks(b))
}

func (c *channel) GetBlocks(ctx context.Context, pe int, dst []byte, src uint64, b transport.Blocks) error {
	if err := c.c.GetBlocks(ctx, pe, dst, src, engine.Blocks(b)); err != nil {
		return c.peerError(err)
	}
	return nil
}

func (c *channel) GetBlocksNB(pe int, dst []byte, src uint64, b transport.Blocks) {
	c.c.GetBlocksNB(pe, dst, src, engine.Blocks(b))
}
