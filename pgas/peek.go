package pgas

// Looks at the memory of PEs of other hosts, by those who wait and want to know why. UCX waits in the kernel while it
// connects to a PE that this one has never talked to, for two minutes if that one's host is cut off. So such a look is
// made by a goroutine of its own, and whoever waits goes on as soon as it is known that a PE is lost.

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/pgas/transport"
)

// peekWord reads a word of the heap of a PE of the job.
func (w *World) peekWord(pe int, off uint64) (uint64, error) {
	courier := w.wire.courier(pe)
	if w.sched != nil || w.far == nil || w.shm.Heap(pe) != nil {
		return w.peekBy(courier, pe, off) // of its own host also when a PE is lost: why it went stands there
	}
	if err := w.failure(); err != nil {
		return 0, err // each look at a PE that is lost would take its time
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
			if err := w.failure(); err != nil {
				return 0, err
			}
		}
	}
}

// peeksEnd waits for looks that are under way, which use what a World closes, and says whether they have ended.
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
