package node

// Waits for notes, and polls for them.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Await returns when the note with that number has arrived, even if it has been taken since. It may return early
// while notes are refused.
func (b *NoteQueue) Await(ctx context.Context, number uint64) error {
	if b.Congestion.refused.Load() == number+1 {
		return b.awaitSpace(ctx)
	}
	at, v := shm.ArrivalWord(number)
	_, err := b.node.Await(ctx, b.node.WordCond(at, transport.GE, v, false), Blocked{Op: boot.InNotify, Peer: -1})
	return err
}

// Poll is called in loops that look for notes instead of waiting for them: it lets other PEs run where they do not
// run by themselves.
func (b *NoteQueue) Poll() {
	b.node.YieldIfScheduled()
	if b.Congestion.refused.Load() != 0 {
		b.panicIfCongested()
	}
}

// awaitSpace waits for a moment, in a wait for a note behind a refused one: only other goroutines of the PE can
// make room. It fails when that takes too long.
func (b *NoteQueue) awaitSpace(ctx context.Context) error {
	if err := b.node.EndedError(ctx); err != nil {
		return err
	}
	if b.node.Sched != nil {
		b.node.Sched.Yield()
		return nil
	}
	b.node.State.Sleep(b.node.State.Doorbell.Load(), MinSleep)
	return nil
}

// panicIfCongested panics when the program has polled for too long for a note behind a refused one.
func (b *NoteQueue) panicIfCongested() {
	if err := b.congestionError(); err != nil {
		panic(err)
	}
}
