package node

// Reads of the memory of PEs of other hosts, by a waiter that looks for the reason of its wait. UCX blocks in the
// kernel while it connects to a PE that this one has never talked to, for most of PGAS_PEER_TIMEOUT if that PE's host
// is cut off. So such a read is made by a goroutine of its own, and the waiter goes on as soon as a PE is known to be
// lost.

import (
	"context"
	"errors"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// PeekWord reads a word of the heap of a PE of the job.
func (n *Node) PeekWord(pe int, off uint64) (uint64, error) {
	courier := n.Channel(pe)
	if n.Sched != nil || n.Remote == nil || n.Shm.Heap(pe) != nil {
		return n.peekVia(courier, pe, off) // of its own host even when a PE is lost: the reason stands in that memory
	}
	if err := n.peekError(pe); err != nil {
		return 0, err
	}
	type word struct {
		v   uint64
		err error
	}
	done := make(chan word, 1)
	n.peeks.Go(func() {
		v, err := n.peekVia(courier, pe, off)
		done <- word{v, err}
	})
	look := time.NewTicker(MaxSleep)
	defer look.Stop()
	for {
		select {
		case x := <-done:
			return x.v, x.err
		case <-look.C:
			if err := n.peekError(pe); err != nil {
				return 0, err
			}
		}
	}
}

// peekError returns why a read from pe, of another host, would take long and find nothing, or nil. Either pe is
// lost, or a PE is lost that does not answer, so that other PEs of its host may not answer either. If the lost PE's
// process has ended, its host answers, and the memory of the remaining PEs may hold the reason of its end.
func (n *Node) peekError(pe int) error {
	var lost *transport.PeerError
	if err, _ := n.suspect(noWait); !errors.As(err, &lost) || lost.PE != pe && n.processEnded(lost) {
		return nil
	}
	return lost
}

// processEnded reports whether the launcher has seen the process of a lost PE end.
func (n *Node) processEnded(lost *transport.PeerError) bool {
	h := n.Job.Segment.Header
	return int(h.Failed.Load())-1 == lost.PE && boot.ProcessEnded(h.FailedHow.Load())
}

// awaitPeeks waits for reads under way, which use channels that Close closes, and reports whether they have ended.
func (n *Node) awaitPeeks() bool {
	ended := make(chan struct{})
	go func() {
		n.peeks.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(PeekTime):
		return false
	}
}

func (n *Node) peekVia(c transport.Channel, pe int, off uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(n.Ctx, PeekTime)
	defer cancel()
	return c.Atomic(ctx, pe, transport.Fetch, Word8(off), 0, 0)
}

// PeekTime is how long a read of another host's memory may take, and how long Quiesced waits for reads under way.
const PeekTime = time.Second

// EdgeOf reads the edge of a PE of the job. It reports false if the PE has none, has begun another wait meanwhile, or
// does not answer.
func (n *Node) EdgeOf(pe int) (WaitEdge, bool) {
	var v [edgeLen]uint64
	for i := range v {
		x, err := n.PeekWord(pe, boot.WaitEdgeOff+8*uint64(i))
		if err != nil || i == 0 && x == 0 {
			return WaitEdge{}, false
		}
		v[i] = x
	}
	if x, err := n.PeekWord(pe, boot.WaitEdgeOff); err != nil || x != v[0] {
		return WaitEdge{}, false
	}
	return WaitEdge{
		Since: int64(v[0]), Seen: int64(v[5]), Peer: int(v[1]), Kind: uint8(v[2]), Call: v[3],
		First: int(v[4] >> 32), Size: int(v[4] & 0xffffffff),
	}, true
}
