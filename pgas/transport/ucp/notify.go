//go:build cgo

package ucp

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// The target knows the sender, so of a stamp only the tag travels.

func (c *channel) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) bool {
	return c.c.PutNotify(pe, dst, src, s.Tag())
}

func (c *channel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (bool, error) {
	ok, err := c.c.GetNotify(ctx, pe, dst, src, s.Tag())
	if err != nil {
		err = c.peerError(ctx, err)
	}
	return ok, err
}

func (c *channel) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) bool {
	return c.c.GetNotifyNB(pe, dst, src, s.Tag())
}

func (c *channel) AtomicNotify(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, s transport.Stamp) (uint64, bool, error) {
	old, ok, err := c.c.FetchNotify(ctx, pe, uint8(op), word.Off, word.Bytes, operand, cond, s.Tag())
	if err != nil {
		err = c.peerError(ctx, err)
	}
	return old, ok, err
}

func (c *channel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, s transport.Stamp) bool {
	return c.c.PostNotify(pe, uint8(op), word.Off, word.Bytes, operand, s.Tag())
}

// Refill is transport.Overflow's.
func (t *Transport) Refill() { t.engine.Refill() }

var _ transport.Overflow = (*Transport)(nil)
