package pgas

// Completion here and completion there are two things. A put is complete there, at its target, after a
// Quiet. It is complete here when its source may be used again, which is sooner: Put waits for that, and
// PutNB tells when it is so.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// LocalCompletion tells when the source of a PutNB may be used again. The zero Sent says: now. It says nothing about
// the target, where the data is after a Quiet. A Quiet or Close of the context ends it too.
type LocalCompletion struct {
	ctx    *Context
	via    transport.ZeroCopyPutter
	pe     int // of the job
	handle uint64
}

// Done reports, without waiting, whether the source may be used again.
func (s LocalCompletion) Done() bool {
	return s.handle == 0 || s.ctx.closed.Load() || s.via.Released(s.pe, s.handle)
}

// Wait returns when the source may be used again. It returns the error of ctx; that the target is lost is
// for Quiet to report.
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

// QuietLocal returns when the sources of all PutNB on c may be used again: what Sent.Wait does for one of
// them. It completes nothing at the targets, and no GetNB. It returns the error of ctx; that a target is
// lost is for Quiet to report.
func (c *Context) QuietLocal(ctx context.Context) error {
	c.mustBeOpen("QuietLocal")
	if c.w.refuses(ctx) {
		return c.w.refusal(ctx, "quiet")
	}
	if c.remote == nil || c.remote.zeroCopy == nil || c.closed.Load() {
		return nil
	}
	return c.awaitReleased(ctx, c.remote.zeroCopy, -1, 0)
}

func (c *Context) awaitReleased(ctx context.Context, via transport.ZeroCopyPutter, pe int, handle uint64) error {
	c.w.n.Block(node.Blocked{Op: boot.InQuiet, Peer: pe})
	defer c.w.n.Unblock()
	return via.AwaitReleased(ctx, pe, handle)
}

// putNB puts through the transport, from where src is if that can be.
func (c *Context) putNB(pe int, off uintptr, src []byte) LocalCompletion {
	via, to := c.routeTo("PutNB", pe)
	dst := c.place("PutNB", off, uintptr(len(src)))
	if via.zeroCopy == nil {
		via.Put(to, dst, src)
		return LocalCompletion{}
	}
	return LocalCompletion{ctx: c, via: via.zeroCopy, pe: to, handle: via.zeroCopy.PutZcopy(to, dst, src)}
}
