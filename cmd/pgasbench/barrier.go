package main

// The barrier.

import (
	"fmt"
)

// barrierTask measures barriers, and checks one: what every PE put before it must be there after it.
func barrierTask(r *runner, _ int) task {
	r.board.SetWord(r.w.PE(), 0)
	rounds := 0
	batch := func(_, n int) error {
		rounds += n
		for range n {
			if err := r.w.Barrier(r.ctx); err != nil {
				return err
			}
		}
		return nil
	}
	verify := func(done int) error {
		if rounds != done {
			return fmt.Errorf("PE %d met %d times, PE 0 %d times", r.w.PE(), rounds, done)
		}
		next := (r.w.PE() + 1) % r.w.NPEs()
		r.board.AddWord(next, uint64(done))
		if err := r.w.Barrier(r.ctx); err != nil {
			return err
		}
		return checkWord(r.board.FetchWord(r.w.PE()), done)
	}
	return task{batch: batch, verify: verify, step: 1, long: true, ways: 1, via: r.w.TransportTo(r.partner)}
}
