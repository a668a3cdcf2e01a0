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
func (w *World) peekWord(pe int, off uint64) (uint64, error) {
	courier := w.wire.courier(pe)
	if w.sched != nil || w.far == nil || w.shm.Heap(pe) != nil {
		return w.peekBy(courier, pe, off) // of its own host even when a PE is lost: the reason stands in that memory
	}
	if err := w.hopelessLook(pe); err != nil {
		return 0, err
	}
	type word struct {
		v   uint64
		err error
	}
	done := make(chan word, 1)
	w.peeks.Go(func() {
		v, err := w.peekBy(courier, pe, off)
		done <- word{v, err}
	})
	look := time.NewTicker(longNap)
	defer look.Stop()
	for {
		select {
		case x := <-done:
			return x.v, x.err
		case <-look.C:
			if err := w.hopelessLook(pe); err != nil {
				return 0, err
			}
		}
	}
}

// hopelessLook returns why a read from pe, of another host, would take long and find nothing, or nil. Either pe is
// lost, or a PE is lost that does not answer, so that other PEs of its host may not answer either. If the lost PE's
// process has ended, its host answers, and the memory of the remaining PEs may hold the reason of its end.
func (w *World) hopelessLook(pe int) error {
	var lost *PeerError
	if err := w.failure(); !errors.As(err, &lost) || lost.PE != pe && w.ended(lost) {
		return nil
	}
	return lost
}

// ended reports whether the launcher has seen the process of a lost PE end.
func (w *World) ended(lost *PeerError) bool {
	h := w.job.Segment.Header
	return int(h.Failed.Load())-1 == lost.PE && boot.ProcessEnded(h.FailedHow.Load())
}

// peeksEnd waits for reads under way, which use channels that Close closes, and reports whether they have ended.
func (w *World) peeksEnd() bool {
	ended := make(chan struct{})
	go func() {
		w.peeks.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(peekTime):
		return false
	}
}

func (w *World) peekBy(c transport.Channel, pe int, off uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(w.ctx, peekTime)
	defer cancel()
	return c.Atomic(ctx, pe, opFetch, word8(off), 0, 0)
}
