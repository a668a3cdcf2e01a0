package main

// Three ways to hand a row over. What is wrong with the first two no compiler sees, and on one host both work nearly
// always.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

var numbers = []int64{1, 2, 3, 4}

// A handOver puts numbers into row of the last PE, where it returns when they are there.
type handOver func(ctx context.Context, w *pgas.World, row pgas.Slice[int64], ready pgas.SignalRef) error

// hastily does not wait for what comes: a race.
func hastily(_ context.Context, w *pgas.World, row pgas.Slice[int64], _ pgas.SignalRef) error {
	if w.PE() == 0 {
		row.Put(w.NPEs()-1, numbers)
	}
	return nil
}

// unfenced waits for a signal, which may come before the row: puts and updates have no order without a fence.
func unfenced(ctx context.Context, w *pgas.World, row pgas.Slice[int64], ready pgas.SignalRef) error {
	if w.PE() == 0 {
		row.Put(w.NPEs()-1, numbers)
		ready.Set(w.NPEs()-1, 1) // the mistake: no Fence between them
	}
	return await(ctx, w, ready)
}

// inOrder sends the signal with the row.
func inOrder(ctx context.Context, w *pgas.World, row pgas.Slice[int64], ready pgas.SignalRef) error {
	if w.PE() == 0 {
		row.PutSignal(w.NPEs()-1, numbers, ready, 1)
	}
	return await(ctx, w, ready)
}

func await(ctx context.Context, w *pgas.World, ready pgas.SignalRef) error {
	if w.PE() != w.NPEs()-1 {
		return nil
	}
	_, err := ready.WaitUntil(ctx, pgas.EQ, 1)
	return err
}
