package ucp

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/ucx/engine"
)

var _ transport.Strider = (*channel)(nil)

func (c *channel) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	c.c.PutBlocks(pe, dst, src, blocksOf(b))
}

func (c *channel) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b transport.Strided) error {
	if err := c.c.GetBlocks(ctx, pe, dst, src, blocksOf(b)); err != nil {
		return c.peerError(err)
	}
	return nil
}

func (c *channel) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	c.c.GetBlocksNB(pe, dst, src, blocksOf(b))
}

// blocksOf returns b as the engine has it.
func blocksOf(b transport.Strided) engine.Blocks {
	return engine.Blocks{Bytes: b.BlockBytes, Count: b.Count, Here: b.LocalStride, There: b.RemoteStride}
}
