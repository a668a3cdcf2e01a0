package shm

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

var _ transport.Strider = (*Channel)(nil)

func (c *Channel) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	moveStrided(c.heaps[c.local(pe)][dst:], b.RemoteStride, src, b.LocalStride, b)
}

func (c *Channel) GetStrided(_ context.Context, pe int, dst []byte, src uint64, b transport.Strided) error {
	c.GetStridedNB(pe, dst, src, b)
	return nil
}

func (c *Channel) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	moveStrided(dst, b.LocalStride, c.heaps[c.local(pe)][src:], b.RemoteStride, b)
}

// moveStrided copies the blocks of src to those of dst.
func moveStrided(dst []byte, dstStep int, src []byte, srcStep int, b transport.Strided) {
	for i := range b.Count {
		copy(dst[i*dstStep:i*dstStep+b.BlockBytes], src[i*srcStep:])
	}
}
