package shm

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

var _ transport.Strider = (*Channel)(nil)

func (c *Channel) PutBlocks(pe int, dst uint64, src []byte, b transport.Blocks) {
	moveBlocks(c.heaps[c.local(pe)][dst:], b.There, src, b.Here, b)
}

func (c *Channel) GetBlocks(_ context.Context, pe int, dst []byte, src uint64, b transport.Blocks) error {
	c.GetBlocksNB(pe, dst, src, b)
	return nil
}

func (c *Channel) GetBlocksNB(pe int, dst []byte, src uint64, b transport.Blocks) {
	moveBlocks(dst, b.Here, c.heaps[c.local(pe)][src:], b.There, b)
}

func moveBlocks(dst []byte, dstStep int, src []byte, srcStep int, b transport.Blocks) {
	for i := range b.Count {
		copy(dst[i*dstStep:i*dstStep+b.Bytes], src[i*srcStep:])
	}
}
