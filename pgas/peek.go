package pgas

// Reads of the memory of PEs of other hosts, by a waiter that looks for the reason of its wait. UCX blocks in the
// kernel while it connects to a PE that this one has never talked to, for most of PGAS_PEER_TIMEOUT if that PE's host is
// cut off. So such a read is made by a goroutine of its own, and the waiter goes on as soon as a PE is known to be lost.

import (
	"context"
	"errors"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// peekWord reads a word of the heap of a PE of the job.
func (n *Node) peekWord(pe int, off uint64) (uint64, error) {
	courier := n.channel(pe)
	if n.sched != nil || n.far == nil || n.shm.Heap(pe) != nil {
		return n.peekBy(courier, pe, off) // of its own host even when a PE is lost: the reason stands in that memory
	}
	if err := n.hopelessLook(pe); err != nil {
		return 0, err
	}
	type word struct {
		v   uint64
		err error
	}
	done := make(chan word, 1)
	n.peeks.Go(func() {
		v, err := n.peekBy(courier, pe, off)
		done <- word{v, err}
	})
	look := time.NewTicker(longNap)
	defer look.Stop()
	for {
		select {
		case x := <-done:
			return x.v, x.err
		case <-look.C:
			if err := n.hopelessLook(pe); err != nil {
				return 0, err
			}
		}
	}
}

// hopelessLook returns why a read from pe, of another host, would take long and find nothing, or nil. Either pe is
// lost, or a PE is lost that does not answer, so that other PEs of its host may not answer either. If the lost PE's
// process has ended, its host answers, and the memory of the remaining PEs may hold the reason of its end.
func (n *Node) hopelessLook(pe int) error {
	var lost *PeerError
	if err := n.failure(); !errors.As(err, &lost) || lost.PE != pe && n.ended(lost) {
		return nil
	}
	return lost
}

// ended reports whether the launcher has seen the process of a lost PE end.
func (n *Node) ended(lost *PeerError) bool {
	h := n.job.Segment.Header
	return int(h.Failed.Load())-1 == lost.PE && boot.ProcessEnded(h.FailedHow.Load())
}

// peeksEnd waits for reads under way, which use channels that Close closes, and reports whether they have ended.
func (n *Node) peeksEnd() bool {
	ended := make(chan struct{})
	go func() {
		n.peeks.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(peekTime):
		return false
	}
}

func (n *Node) peekBy(c transport.Channel, pe int, off uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(n.ctx, peekTime)
	defer cancel()
	return c.Atomic(ctx, pe, opFetch, word8(off), 0, 0)
}
