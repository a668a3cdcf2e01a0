package main

// Atomics on one word of the partner. PE 0 alone works on it, so every old value is known, and the
// word's last value too.

import "fmt"

// atomicTask is a task on the word, which starts at 0. last is what done operations leave in it.
func (r *runner) atomicTask(batch func(word BoardRef, wrong *uint64, first, n int), last func(done int) int) task {
	r.board.SetWord(r.w.PE(), 0)
	var wrong uint64
	run := func(first, n int) error {
		batch(r.board, &wrong, first, n)
		return nil
	}
	return r.oneSided(run, func(done int) error {
		if wrong != 0 {
			return errGot
		}
		if r.w.PE() != r.partner {
			return nil
		}
		return checkWord(r.board.FetchWord(r.partner), last(done))
	})
}

func checkWord(got uint64, want int) error {
	if got != uint64(want) {
		return fmt.Errorf("a word is %d and should be %d", got, want)
	}
	return nil
}

func all(done int) int { return done }

func fetchAddTask(r *runner, _ int) task {
	pe := r.partner
	return r.atomicTask(func(word BoardRef, wrong *uint64, first, n int) {
		var bits uint64
		for i := first; i < first+n; i++ {
			bits |= word.FetchAddWord(pe, 1) ^ uint64(i)
		}
		*wrong |= bits
	}, all)
}

func compareSwapTask(r *runner, _ int) task {
	pe := r.partner
	return r.atomicTask(func(word BoardRef, wrong *uint64, first, n int) {
		var bits uint64
		for i := first; i < first+n; i++ {
			bits |= word.CompareSwapWord(pe, uint64(i), uint64(i)+1) ^ uint64(i)
		}
		*wrong |= bits
	}, all)
}

func swapTask(r *runner, _ int) task {
	pe := r.partner
	return r.atomicTask(func(word BoardRef, wrong *uint64, first, n int) {
		var bits uint64
		for i := first; i < first+n; i++ {
			bits |= word.SwapWord(pe, uint64(i)+1) ^ uint64(i)
		}
		*wrong |= bits
	}, all)
}

func fetchTask(r *runner, _ int) task {
	pe := r.partner
	return r.atomicTask(func(word BoardRef, wrong *uint64, first, n int) {
		var bits uint64
		for range n {
			bits |= word.FetchWord(pe)
		}
		*wrong |= bits
	}, func(int) int { return 0 })
}
