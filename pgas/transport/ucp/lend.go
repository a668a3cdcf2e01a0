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

func (c *channel) Released(pe int, handle uint64) bool { return c.c.Released(pe, handle) }

func (c *channel) AwaitReleased(ctx context.Context, pe int, handle uint64) error {
	return c.c.AwaitReleased(ctx, pe, handle)
}

func (c *channel) Batch(on bool) { c.c.Batch(on) }

var (
	_ transport.ZeroCopyPutter = (*channel)(nil)
	_ transport.Batcher        = (*channel)(nil)
)
