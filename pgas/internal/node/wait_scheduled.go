package node

import (
	"context"
	"errors"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// AwaitClosed blocks until another thread of control of this PE has closed ch, or ctx ends.
func (n *Node) AwaitClosed(ctx context.Context, ch <-chan struct{}) error {
	if n.Sched == nil {
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

// awaitScheduled is await where a scheduler says who runs. When no PE can go on, it looks for the reason
// before it waits on.
func (n *Node) awaitScheduled(ctx context.Context, c Cond, why Blocked) (uint64, error) {
	n.Block(why)
	defer n.Unblock()
	lo, hi := c.span()
	var v uint64
	var ok bool
	ready := func() bool {
		n.Notes.drainIfWanted()
		if c.set == nil || !ok { // a look at a set takes what it finds
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
		case err != nil:
			err = FirstError(n.PeerFailure(), err)
		}
		if c.set == nil {
			v, ok = c.Check() // it may have changed since
		}
		if ok {
			err = nil // what came true at the last moment counts
		}
		if ok || err != nil {
			return v, err
		}
	}
}

// diagnoseStall looks for the reason why no PE can go on: as often, and as far apart, as one that sleeps would,
// and as long as ready does not hold.
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

// span is where c's words are in the heap; nowhere if they are not in it.
func (c *Cond) span() (lo, hi uint64) {
	switch {
	case c.Word.Off == 0:
		return 0, 0
	case c.set != nil:
		return c.set.off, c.set.offset(c.set.N)
	}
	return c.Word.Off, c.Word.Off + uint64(c.Word.Bytes)
}

// canBlockForever says whether a wait can last where a scheduler says who runs, and notes that it shows: what only
// messages end, always ends.
func (n *Node) canBlockForever(why Blocked) bool {
	n.publishing = why.Op != boot.InGet && why.Op != boot.InAtomic && why.Op != boot.InQuiet
	return n.publishing
}
