//go:build cgo

package ucp

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

func (c *channel) PutZcopy(pe int, dst uint64, src []byte) (handle uint64) {
	return c.c.PutZcopy(pe, dst, src)
}

func (c *channel) PutNotifyZcopy(pe int, dst uint64, src []byte, s transport.Stamp) (uint64, bool) {
	return c.c.PutNotifyZcopy(pe, dst, src, s.Tag())
}

// PutSignalZcopy has read src on return: the engine copies what a signal follows.
func (c *channel) PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) uint64 {
	c.PutSignal(pe, dst, src, sig, op, value)
	return 0
}

// PutStridedZcopy has read src on return if it has more than one block: the engine packs blocks.
func (c *channel) PutStridedZcopy(pe int, dst uint64, src []byte, b transport.Strided) uint64 {
	if b.Count == 1 {
		return c.PutZcopy(pe, dst, src[:b.BlockBytes])
	}
	c.PutStrided(pe, dst, src, b)
	return 0
}

func (c *channel) Released(pe int, handle uint64) bool { return c.c.Released(pe, handle) }

func (c *channel) AwaitReleased(ctx context.Context, pe int, handle uint64) error {
	return c.c.AwaitReleased(ctx, pe, handle)
}

func (c *channel) Batch(on bool) { c.c.Batch(on) }

var (
	_ transport.ZeroCopyPutter = (*channel)(nil)
	_ transport.Batcher        = (*channel)(nil)
)
