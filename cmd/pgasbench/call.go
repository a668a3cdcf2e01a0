package main

// Calls: a goroutine of each PE asks the partner, and another goroutine answers the partner's questions. So two
// goroutines of a PE wait at the same time, and the PE's processors go from one to the other.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// callTask measures calls of both PEs at once. The question is the number of the call, and so is the answer.
func callTask(r *runner, _ int) task {
	words := pgas.AtomicsOf(r.ring)
	asked, answered := words.At(0), words.At(1)
	asked.Set(r.w.PE(), 0)
	answered.Set(r.w.PE(), 0)
	other := r.partner - r.w.PE()
	batch := func(first, n int) error {
		if r.w.PE() != 0 && r.w.PE() != r.partner {
			return nil
		}
		serve := func(ctx context.Context) error {
			for i := first + 1; i <= first+n; i++ {
				if _, err := asked.WaitUntil(ctx, pgas.GE, uint64(i)); err != nil {
					return err
				}
				answered.Set(other, uint64(i))
			}
			return nil
		}
		serving := r.w.Go(r.ctx, serve)
		for i := first + 1; i <= first+n; i++ {
			asked.Set(other, uint64(i))
			v, err := answered.WaitUntil(r.ctx, pgas.GE, uint64(i))
			if err != nil {
				return err
			}
			r.wrong |= v ^ uint64(i)
		}
		return serving.Wait()
	}
	verify := func(done int) error {
		if err := r.checkGot(done); err != nil || r.w.PE() != 0 && r.w.PE() != r.partner {
			return err
		}
		return checkWord(asked.Fetch(r.w.PE()), done)
	}
	return task{batch: batch, verify: verify, step: 1, long: true, ways: 1, via: r.w.TransportTo(r.partner)}
}
