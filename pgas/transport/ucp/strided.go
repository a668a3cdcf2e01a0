//go:build cgo

package ucp

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/ucx/engine"
)

var _ transport.Strider = (*channel)(nil)

func (c *channel) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	c.c.PutStrided(pe, dst, src, engine.Strided(b))
}

func (c *channel) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b transport.Strided) error {
	if err := c.c.GetStrided(ctx, pe, dst, src, engine.Strided(b)); err != nil {
		return c.peerError(ctx, err)
	}
	return nil
}

func (c *channel) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	c.c.GetStridedNB(pe, dst, src, engine.Strided(b))
}
