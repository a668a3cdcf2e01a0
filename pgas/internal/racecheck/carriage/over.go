package carriage

// A Carriage between the PEs of a job.

import (
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Over returns a Carriage of the PE of n, whose heap has the memory for rings at offset base. say prints a line. It
// returns the error of the resources that its channels need.
func Over(n *node.Node, l Layout, base uint64, d Detector, say func(line string)) (*Carriage, error) {
	me := n.Job.PE
	far, err := farChannel(n)
	if err != nil {
		return nil, err
	}
	patience := n.Job.Settings.PeerTimeout
	if patience == 0 {
		patience = boot.DefaultPeerTimeout
	}
	return Open(Config{
		Layout: l, Ctx: n.Ctx, PE: me, Base: base, Own: n.Shm.Heap(me)[base:][:l.Bytes()], Heap: uint64(len(n.Shm.Heap(me))),
		Word: func(off uint64) *atomic.Uint64 { return &n.WordsOf(me, uintptr(off), 1)[0] },
		Near: n.Shm.Open(), IsNear: func(pe int) bool { return n.Shm.Heap(pe) != nil }, Far: far,
		Detector: d, Failure: n.PeerFailure,
		Progress: n.AwaitArrival, Patience: patience, Say: say,
	}), nil
}

// farChannel returns a channel to PEs of other hosts, or nil if there are none.
func farChannel(n *node.Node) (transport.Channel, error) {
	for pe := range n.Job.NPEs {
		if n.Shm.Heap(pe) == nil {
			return n.Remote.Channel(false)
		}
	}
	return nil, nil
}

// CloseChannels closes what Over has opened, after Close.
func (c *Carriage) CloseChannels() error {
	err := c.Near.Close()
	if c.Far != nil {
		if e := c.Far.Close(); err == nil {
			err = e
		}
	}
	return err
}
