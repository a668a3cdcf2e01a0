//go:build cgo

package ucp

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/ucx/engine"
)

// channel is a transport.Channel over one of the engine's.
type channel struct {
	c     *engine.Channel
	blame *blame
}

func (c *channel) Put(pe int, dst uint64, src []byte) { c.c.Put(pe, dst, src) }

func (c *channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	c.c.PutSignal(pe, dst, src, sig, uint8(op), value)
}

func (c *channel) Get(ctx context.Context, pe int, dst []byte, src uint64) error {
	if err := c.c.Get(ctx, pe, dst, src); err != nil {
		return c.peerError(ctx, err)
	}
	return nil
}

func (c *channel) GetNB(pe int, dst []byte, src uint64) { c.c.GetNB(pe, dst, src) }

func (c *channel) Atomic(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64) (uint64, error) {
	old, err := c.c.Fetch(ctx, pe, uint8(op), word.Off, word.Bytes, operand, cond)
	if err != nil {
		return 0, c.peerError(ctx, err)
	}
	return old, nil
}

func (c *channel) AtomicNB(pe int, op transport.Op, word transport.Word, operand, cond uint64, dst []byte) {
	c.c.FetchNB(pe, uint8(op), word.Off, word.Bytes, operand, cond, dst)
}

func (c *channel) Post(pe int, op transport.Op, word transport.Word, operand uint64) {
	c.c.Post(pe, uint8(op), word.Off, word.Bytes, operand)
}

func (c *channel) Fence(pe int) { c.c.Fence(pe) }

func (c *channel) Quiet(ctx context.Context, pe int) error {
	if err := c.c.Quiet(ctx, pe); err != nil {
		return c.peerError(ctx, err)
	}
	return nil
}

var _ transport.Channel = (*channel)(nil)

// Connection is that of transport.Describer.
func (c *channel) Connection(pe int) (text string, native bool) { return c.c.Connection(pe) }

var _ transport.Describer = (*channel)(nil)

func (c *channel) Close() error { return c.c.Close() }

// peerError returns err, or, if the engine has lost a PE, a *transport.PeerError. ctx bounds how long it waits for the
// launcher to say which PE that is. A PE that has refused an operation is not lost: the error is of another type then.
func (c *channel) peerError(ctx context.Context, err error) error {
	var lost *engine.LostError
	if !errors.As(err, &lost) {
		return err
	}
	if lost.Reason == engine.Refused {
		return fmt.Errorf("PE %d on host %s: %w", lost.PE, c.blame.job.Hosts[c.blame.job.HostOf(lost.PE)].Name, lost)
	}
	return c.blame.peerError(ctx, lost)
}
