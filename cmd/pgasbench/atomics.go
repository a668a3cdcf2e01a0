package main

// Atomics on one word of the partner. PE 0 alone works on it, so every old value is known, and the
// word's last value too.

// atomicTask makes a task on the word, which starts at 0. last returns what done operations leave in it.
func (r *runner) atomicTask(batch func(first, n int) error, last func(done int) int) task {
	r.board.SetWord(r.w.PE(), 0)
	return r.oneSided(batch, func(done int) error {
		if err := r.checkGot(done); err != nil || r.w.PE() != r.partner {
			return err
		}
		return checkWord(r.board.FetchWord(r.partner), last(done))
	})
}

func counted(done int) int { return done }
func untouched(int) int    { return 0 }

func fetchAddTask(r *runner, _ int) task    { return r.atomicTask(r.fetchAdds, counted) }
func compareSwapTask(r *runner, _ int) task { return r.atomicTask(r.compareSwaps, counted) }
func swapTask(r *runner, _ int) task        { return r.atomicTask(r.swaps, counted) }
func fetchTask(r *runner, _ int) task       { return r.atomicTask(r.fetches, untouched) }

func (r *runner) fetchAdds(first, n int) error {
	word, pe := r.board.Word(), r.partner
	var wrong uint64
	for i := first; i < first+n; i++ {
		wrong |= word.FetchAdd(pe, 1) ^ uint64(i)
	}
	r.wrong |= wrong
	return nil
}

func (r *runner) compareSwaps(first, n int) error {
	word, pe := r.board.Word(), r.partner
	var wrong uint64
	for i := first; i < first+n; i++ {
		wrong |= word.CompareSwap(pe, uint64(i), uint64(i)+1) ^ uint64(i)
	}
	r.wrong |= wrong
	return nil
}

func (r *runner) swaps(first, n int) error {
	word, pe := r.board.Word(), r.partner
	var wrong uint64
	for i := first; i < first+n; i++ {
		wrong |= word.Swap(pe, uint64(i)+1) ^ uint64(i)
	}
	r.wrong |= wrong
	return nil
}

func (r *runner) fetches(_, n int) error {
	word, pe := r.board.Word(), r.partner
	var wrong uint64
	for range n {
		wrong |= word.Fetch(pe)
	}
	r.wrong |= wrong
	return nil
}
