package node

// The channels of the runtime's own messages. Collectives and diagnoses use channels apart from those of the
// program's contexts, so that a Quiet of the program does not wait for them.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// OpenChannels opens the channels. The transports must be open.
func (n *Node) OpenChannels() (err error) {
	n.hostChannel = n.Shm.Open()
	if n.Remote == nil {
		return nil
	}
	c, err := n.Remote.Channel(false)
	if err == nil {
		n.netChannel = n.recorded(c)
	}
	return err
}

// Channel returns the channel of the runtime's own messages to pe of the job.
func (n *Node) Channel(pe int) transport.Channel {
	if n.Shm.Heap(pe) != nil {
		return n.hostChannel
	}
	return n.netChannel
}

// Flush returns when everything sent on these channels is complete, or with the error of ctx or of a lost peer.
func (n *Node) Flush(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	shm.FullFence()
	if n.netChannel == nil {
		return nil
	}
	if n.flushes.Add(1)%ServeEvery == 0 {
		n.ProgressOnce()
	}
	mark := n.Block(Blocked{Op: boot.InQuiet, Peer: -1})
	defer n.Unblock(mark)
	if err := n.netChannel.Quiet(ctx, -1); err != nil {
		return fmt.Errorf("quiet%s: %w", callsite.At(), err)
	}
	return nil
}

// closeChannels closes what OpenChannels has opened.
func (n *Node) closeChannels() error {
	var err error
	if n.netChannel != nil {
		err = n.netChannel.Close()
	}
	if n.hostChannel != nil {
		err = FirstError(n.hostChannel.Close(), err)
	}
	return err
}

// ServeEvery is the number of quiets of which one also applies what has arrived. A PE that calls Quiet in a loop, such
// as one that takes the same lock again and again, may keep the only CPU of its host from the service thread, which
// other hosts may need to take that lock. Applying what has arrived costs some 400 ns.
const ServeEvery = 32
