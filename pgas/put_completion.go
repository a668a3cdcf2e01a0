package pgas

// A put completes twice. It is complete locally when its source may be reused: Put blocks until then, and
// PutNB returns a LocalCompletion that tells. It is complete remotely, at its target, when a later Quiet has
// returned.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// LocalCompletion tells when the source of a PutNB may be reused. The zero LocalCompletion is done. It tells nothing
// about the target: the data is visible there after a Quiet. After a Quiet or a Close of the context it is done too.
type LocalCompletion struct {
	ctx    *Context
	via    transport.ZeroCopyPutter
	pe     int // number of the target in the job
	handle uint64
}

// Done reports, without waiting, whether the source may be reused.
func (s LocalCompletion) Done() bool {
	return s.handle == 0 || s.ctx.closed.Load() || s.via.Released(s.pe, s.handle)
}

// Wait blocks until the source may be reused. It returns the cause of ctx if ctx ends first. A lost target is no error
// of Wait: the next Quiet reports it.
func (s LocalCompletion) Wait(ctx context.Context) error {
	mustHaveContext("LocalCompletion.Wait", ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("waiting for a source: %w", context.Cause(ctx))
	}
	if s.Done() {
		return nil
	}
	return s.ctx.awaitReleased(ctx, s.via, s.pe, s.handle)
}

// QuietLocal blocks until the sources of all PutNB on c may be reused: LocalCompletion.Wait for all of them at once.
// It completes nothing at the targets, and no GetNB. It returns the cause of ctx if ctx ends first. Before it waits, it
// also returns *PeerError if a PE of the job is known to be lost and ctx has ended, or an error if the World is
// closed. A lost target is no error of QuietLocal: the next Quiet reports it.
func (c *Context) QuietLocal(ctx context.Context) error {
	c.mustBeOpen("QuietLocal")
	if c.w.refuses(ctx) {
		return c.w.refusal(ctx, "quiet")
	}
	if c.onStrands() && !c.closed.Load() {
		_ = c.local.zeroCopy.AwaitReleased(ctx, -1, 0)
	}
	issued := c.watch.issued()
	if c.remote != nil && c.remote.zeroCopy != nil && !c.closed.Load() {
		if err := c.awaitReleased(ctx, c.remote.zeroCopy, -1, 0); err != nil {
			return err
		}
	}
	if c.watch != nil {
		c.watch.races.QuietedLocal(issued.races)
	}
	return nil
}

// awaitReleased blocks until the put to pe with the given handle has read its source, or all puts if pe < 0.
func (c *Context) awaitReleased(ctx context.Context, via transport.ZeroCopyPutter, pe int, handle uint64) error {
	mark := c.w.n.Block(node.Blocked{Op: boot.InQuiet, Peer: pe})
	defer c.w.n.Unblock(mark)
	return via.AwaitReleased(ctx, pe, handle)
}

// putNB puts through the transport, without a copy of src if the channel can do that.
func (c *Context) putNB(pe int, off uintptr, src []byte) LocalCompletion {
	via, to := c.routeTo("PutNB", pe)
	dst := c.place("PutNB", off, uintptr(len(src)))
	if via.zeroCopy == nil {
		via.Put(to, dst, src)
		return LocalCompletion{}
	}
	return LocalCompletion{ctx: c, via: via.zeroCopy, pe: to, handle: via.zeroCopy.PutZcopy(to, dst, src)}
}
