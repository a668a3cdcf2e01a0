package main

// One point: a barrier, the work, which is measured, a barrier, and every PE checks its memory against what must have
// arrived. A figure without that check is not printed.

import (
	"fmt"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// point measures b at one size and checks what it left behind.
func (r *runner) point(b bench, size int) (result.Result, error) {
	r.wrong = 0
	t := b.task(r, size)
	if err := r.startCosts(); err != nil {
		return result.Result{}, err
	}
	if t.end != nil {
		defer t.end()
	}
	res, done, err := r.figures(b, size, t)
	if err == nil && r.costs != nil {
		err = r.addCosts(&res, done)
	}
	if err == nil {
		err = t.verify(done)
	}
	if err == nil {
		err = r.w.Barrier(r.ctx) // no PE starts the next before all have looked
	}
	if err != nil {
		return result.Result{}, fmt.Errorf("%s of %d bytes: %w", b.name, size, err)
	}
	return res, nil
}

// figures measures t. The result is PE 0's alone; how many operations were done is known to every PE.
func (r *runner) figures(b bench, size int, t task) (res result.Result, done int, err error) {
	if t.contest != nil {
		shares, done, err := r.contend(t)
		if err != nil || r.w.PE() != 0 {
			return res, done, err
		}
		return result.OfShares(b.name, size, t.via, shares), done, nil
	}
	s, err := r.measure(t)
	if err != nil || r.w.PE() != 0 {
		return res, s.Done, err
	}
	return result.Of(b.name, size, r.w.NPEs(), t.via, s, t.ways), s.Done, nil
}

// measure runs t on all PEs. The number of operations is known to every PE afterwards, the samples to
// the PEs that took part.
func (r *runner) measure(t task) (s result.Series, err error) {
	if err := r.w.Barrier(r.ctx); err != nil {
		return s, err
	}
	w := result.Work{Batch: r.watched(t.batch), Step: t.step, Long: t.long, Clock: r.clock}
	if !t.alone {
		w.Agree = r.agree
	}
	if !t.alone || r.w.PE() == 0 {
		if s, err = r.plan.Measure(w); err != nil {
			return s, err
		}
	}
	if err := r.w.Quiet(r.ctx); err != nil {
		return s, err
	}
	s.Done, err = r.agree(s.Done)
	return s, err
}
