package pgas

// The channels of the runtime's own messages. Collectives and diagnoses use channels apart from those of the
// program's contexts, so that a Quiet of the program does not wait for them.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// openChannels opens the channels. The transports must be open.
func (n *Node) openChannels() (err error) {
	n.hostChannel = n.shm.Open()
	if n.far != nil {
		n.netChannel, err = n.far.Channel(false)
	}
	return err
}

// channel returns the channel of the runtime's own messages to pe of the job.
func (n *Node) channel(pe int) transport.Channel {
	if n.shm.Heap(pe) != nil {
		return n.hostChannel
	}
	return n.netChannel
}

// flush returns when everything sent on these channels is complete, or with the error of ctx or of a lost peer.
func (n *Node) flush(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	shm.FullFence()
	if n.netChannel == nil {
		return nil
	}
	if n.flushes.Add(1)%serveEvery == 0 {
		n.serve()
	}
	n.block(blockedIn{op: boot.InQuiet, peer: -1})
	defer n.unblock()
	if err := n.netChannel.Quiet(ctx, -1); err != nil {
		return fmt.Errorf("quiet%s: %w", atSite(), err)
	}
	return nil
}

// closeChannels closes what openChannels has opened.
func (n *Node) closeChannels() error {
	var err error
	if n.netChannel != nil {
		err = n.netChannel.Close()
	}
	if n.hostChannel != nil {
		err = firstError(n.hostChannel.Close(), err)
	}
	return err
}
