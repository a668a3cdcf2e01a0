package node

import (
	"context"
	"errors"
	"time"

	"github.com/gopgas/gopgas/pgas/transport"
)

// AwaitClosed blocks until another thread of control of this PE has closed ch and returns nil, or until ctx ends and
// returns its cause.
func (n *Node) AwaitClosed(ctx context.Context, ch <-chan struct{}) error {
	n.Learn()
	if n.Sched == nil {
		timed := n.stall.begin(ctx)
		defer n.stall.end(n.State, timed)
		select {
		case <-ch:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	closed := func() bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	for {
		if err := n.Sched.Await(ctx, 0, 0, closed); !errors.Is(err, transport.ErrStalled) {
			return err
		}
	}
}

// awaitScheduled does Await's work where a scheduler chooses the PE that runs. When no PE can go on,
// awaitScheduled searches for the reason before it waits again.
func (n *Node) awaitScheduled(ctx context.Context, c Cond, why Blocked) (uint64, error) {
	mark := n.Block(why)
	defer n.Unblock(mark)
	lo, hi := c.span()
	var v uint64
	var ok bool
	ready := func() bool {
		n.Notes.drainIfWanted()
		if c.set == nil || !ok { // a check of a set removes the word that it finds
			v, ok = c.Check()
		}
		return ok || n.PeerFailure() != nil || n.Notes.congestionError() != nil
	}
	for {
		err := n.Sched.Await(ctx, lo, hi, ready)
		switch {
		case errors.Is(err, transport.ErrStalled):
			err = n.diagnoseStall(ctx, &c, ready)
		case err == nil && !ok:
			err = n.waitError(ctx, c, false)
		case err != nil && c.joint:
			err = FirstError(n.PeerFailure(), c.Party.Check(false), err)
		case err != nil:
			err = FirstError(n.PeerFailure(), err)
		}
		if c.set == nil {
			v, ok = c.Check() // it may have changed since
		}
		if ok {
			err = nil // a condition that came true at the last moment counts
		}
		if ok || err != nil {
			return v, err
		}
	}
}

// diagnoseStall searches for the reason why no PE can go on, as long as ready does not hold. It searches as often, and
// at the same intervals, as a sleeping waiter.
func (n *Node) diagnoseStall(ctx context.Context, c *Cond, ready func() bool) error {
	if c.Party == nil {
		return n.waitError(ctx, *c, true)
	}
	lo, hi := c.span()
	for _, d := range [...]time.Duration{FirstRemoteCheck, n.CycleTimeout(), n.CycleTimeout()} {
		if err := n.waitError(ctx, *c, true); err != nil || ready() {
			return err
		}
		until, cancel := n.Sched.WithTimeout(ctx, d)
		err := n.Sched.Await(until, lo, hi, ready)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return n.waitError(ctx, *c, true)
}

// span returns the offsets in the heap from the first of c's words to behind the last, or 0 and 0 if c's words are not
// in the heap.
func (c *Cond) span() (lo, hi uint64) {
	switch {
	case c.Word.Off == 0:
		return 0, 0
	case c.set != nil:
		return c.set.off, c.set.offset(c.set.N)
	}
	return c.Word.Off, c.Word.Off + uint64(c.Word.Bytes)
}
