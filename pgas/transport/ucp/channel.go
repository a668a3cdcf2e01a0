package ucp

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/ucx/engine"
)

// channel is a transport.Channel over one of the engine's.
type channel struct {
	c   *engine.Channel
	job *boot.Job
}

func (c *channel) Put(pe int, dst uint64, src []byte) { c.c.Put(pe, dst, src) }

func (c *channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	c.c.PutSignal(pe, dst, src, sig, uint8(op), value)
}

func (c *channel) Get(ctx context.Context, pe int, dst []byte, src uint64) error {
	if err := c.c.Get(ctx, pe, dst, src); err != nil {
		return c.peerError(err)
	}
	return nil
}

func (c *channel) GetNB(pe int, dst []byte, src uint64) { c.c.GetNB(pe, dst, src) }

func (c *channel) Atomic(ctx context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64) (uint64, error) {
	old, err := c.c.Fetch(ctx, pe, uint8(op), at.Off, at.Bytes, operand, cond)
	if err != nil {
		return 0, c.peerError(err)
	}
	return old, nil
}

func (c *channel) AtomicNB(pe int, op transport.Op, at transport.Word, operand, cond uint64, dst []byte) {
	c.c.FetchNB(pe, uint8(op), at.Off, at.Bytes, operand, cond, dst)
}

func (c *channel) Post(pe int, op transport.Op, at transport.Word, operand uint64) {
	c.c.Post(pe, uint8(op), at.Off, at.Bytes, operand)
}

func (c *channel) Fence(pe int) { c.c.Fence(pe) }

func (c *channel) Quiet(ctx context.Context, pe int) error {
	if err := c.c.Quiet(ctx, pe); err != nil {
		return c.peerError(err)
	}
	return nil
}

func (c *channel) Close() error { return c.c.Close() }

// peerError gives what the engine lost the name of a PE and of its host, and what the launcher knows.
func (c *channel) peerError(err error) error {
	var lost *engine.LostError
	if !errors.As(err, &lost) {
		return err
	}
	head := c.job.Segment.Header
	why := err
	if head.Failed.Load() == uint64(lost.PE)+1 {
		why = fmt.Errorf("%w; the launcher says: %w", err, boot.HowDied(head.FailedHow.Load()))
	}
	return &transport.PeerError{PE: lost.PE, Host: c.job.Hosts[c.job.HostOf(lost.PE)].Name, Err: why}
}
