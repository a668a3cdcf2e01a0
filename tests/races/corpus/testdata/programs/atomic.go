package programs

// Atomic words as locks, tickets and counters that a program makes itself.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func atomics() []pair {
	return []pair{
		{2, ticketLock}, {3, compareSwapLock}, {3, swapLock}, {3, homemadeBarrier}, {2, pollWithoutFence}, {2, handOff},
		{2, ticketsOverlap}, {2, counterReset}, {3, flagOfOtherPE}, {2, fetchAddAsFlag}, {2, bitsAsFlags},
		{2, floatSum},
	}
}

func ticketLock(ctx context.Context, w *pgas.World, right bool) error {
	data, state := numbers(ctx, w), words(ctx, w)
	next, serving := pgas.AtomicOf(state, 0), pgas.AtomicOf(state, 1)
	ticket := next.FetchAdd(0, 1)
	for serving.Fetch(0) != ticket {
		must(ctx.Err())
		w.Yield()
	}
	v := data.At(0).Get(0) // then
	data.At(0).Put(0, v+1) // first
	if right {
		must(w.Quiet(ctx))
	}
	serving.Add(0, 1)
	must(w.Barrier(ctx))
	want(ctx, data.At(0).Get(0), 2)
	return w.Barrier(ctx)
}

// compareSwapLock has the lock on PE 0 and the data on PE 2.
func compareSwapLock(ctx context.Context, w *pgas.World, right bool) error {
	data, state := numbers(ctx, w), words(ctx, w)
	lock := pgas.AtomicOf(state, 0)
	if w.PE() < 2 {
		for lock.CompareSwap(0, 0, 1) != 0 {
			must(ctx.Err())
			w.Yield()
		}
		v := data.At(0).Get(2) // then
		data.At(0).Put(2, v+1) // first
		if right {
			must(w.Quiet(ctx))
		} else {
			w.Fence()
		}
		lock.Set(0, 0)
	}
	must(w.Barrier(ctx))
	if w.PE() == 2 {
		want(ctx, data.Local()[0], 2)
	}
	return nil
}

func swapLock(ctx context.Context, w *pgas.World, right bool) error {
	data, state := numbers(ctx, w), words(ctx, w)
	lock := pgas.AtomicOf(state, 2)
	if w.PE() > 0 {
		for lock.Swap(0, 1) == 1 {
			must(ctx.Err())
			w.Yield()
		}
		data.Range(0, 2).Put(0, []int64{int64(w.PE()), int64(w.PE())}) // first and then
		if right {
			w.MustQuiet()
		}
		lock.Swap(0, 0)
	}
	return w.Barrier(ctx)
}

// homemadeBarrier counts arrivals at PE 0, which then lets all go on.
func homemadeBarrier(ctx context.Context, w *pgas.World, right bool) error {
	data, state := numbers(ctx, w), words(ctx, w)
	arrived, leave := pgas.AtomicOf(state, 0), pgas.AtomicOf(state, 1)
	me, n := w.PE(), w.NPEs()
	data.At(me).Put((me+1)%n, 7) // first
	if right {
		must(w.Quiet(ctx))
	}
	arrived.Add(0, 1)
	if me == 0 {
		seen(arrived.WaitUntil(ctx, pgas.EQ, int64(n)))
		for pe := range n {
			leave.Set(pe, 1)
		}
	}
	seen(leave.WaitUntil(ctx, pgas.EQ, 1))
	want(ctx, data.Local()[(me+n-1)%n], 7) // then
	return w.Barrier(ctx)
}

func pollWithoutFence(ctx context.Context, w *pgas.World, right bool) error {
	data, state := numbers(ctx, w), words(ctx, w)
	flag := pgas.AtomicOf(state, 0)
	if w.PE() == 0 {
		data.Range(3, 5).Put(1, []int64{7, 8}) // first
		if right {
			w.Fence()
		}
		flag.Inc(1)
	} else {
		for flag.Fetch(1) == 0 {
			must(ctx.Err())
			w.Yield()
		}
		want(ctx, data.Local()[4], 8) // then
	}
	return w.Barrier(ctx)
}

// handOff gives a buffer of PE 0 back and forth by a word.
func handOff(ctx context.Context, w *pgas.World, right bool) error {
	data, state := numbers(ctx, w), words(ctx, w)
	turn := pgas.AtomicOf(state, 0)
	for round := range int64(2) {
		for turn.Fetch(0) != 2*round+int64(w.PE()) {
			must(ctx.Err())
			w.Yield()
		}
		if w.PE() == 1 {
			data.At(0).Put(0, round+1) // first
			if right {
				w.Fence()
			}
		} else {
			want(ctx, data.Local()[0], round) // then
		}
		turn.Add(0, 1)
	}
	return w.Barrier(ctx)
}

// ticketsOverlap takes places by an atomic counter, and writes one element too many.
func ticketsOverlap(ctx context.Context, w *pgas.World, right bool) error {
	data, state, n := numbers(ctx, w), words(ctx, w), int64(5)
	if right {
		n = 4
	}
	at := pgas.AtomicOf(state, 0).FetchAdd(0, 4)
	data.Range(int(at), int(at+n)).Put(0, make([]int64, n)) // first and then
	return w.Barrier(ctx)
}

func counterReset(ctx context.Context, w *pgas.World, right bool) error {
	state := words(ctx, w)
	count := pgas.AtomicOf(state, 0)
	if w.PE() == 1 {
		count.Add(0, 5) // first
	}
	if right {
		must(w.Barrier(ctx))
	} else {
		must(w.Sync(ctx))
	}
	if w.PE() == 0 {
		state.Local()[0] = 0 // then
	}
	return w.Barrier(ctx)
}

// flagOfOtherPE waits for the flag of PE 2, and uses the data of PE 0.
func flagOfOtherPE(ctx context.Context, w *pgas.World, right bool) error {
	data, state := numbers(ctx, w), words(ctx, w)
	flags := []pgas.Atomic[int64]{pgas.AtomicOf(state, 0), {}, pgas.AtomicOf(state, 2)}
	if w.PE() == 1 {
		from := 2
		if right {
			from = 0
		}
		seen(flags[from].WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	} else {
		data.At(w.PE()).Put(1, 7) // first
		w.Fence()
		flags[w.PE()].Set(1, 1)
	}
	return w.Barrier(ctx)
}

func fetchAddAsFlag(ctx context.Context, w *pgas.World, right bool) error {
	data, state := numbers(ctx, w), words(ctx, w)
	last := pgas.AtomicOf(state, 0)
	data.At(1+w.PE()).Put(0, 7) // first
	if right {
		must(w.Quiet(ctx))
	}
	if last.FetchAdd(0, 1) == 1 { // the last one looks at the work of both
		want(ctx, data.At(2-w.PE()).Get(0), 7) // then
	}
	return w.Barrier(ctx)
}

func bitsAsFlags(ctx context.Context, w *pgas.World, right bool) error {
	data, state := numbers(ctx, w), words(ctx, w)
	bits := pgas.AtomicOf(state, 3)
	if w.PE() == 0 {
		for i := range 3 {
			data.At(i).Put(1, 7) // first
			if right {
				w.Fence()
			}
			bits.Or(1, 1<<i)
		}
	} else {
		seen(bits.WaitUntil(ctx, pgas.EQ, 7))
		want(ctx, data.Local()[1], 7) // then
	}
	return w.Barrier(ctx)
}

func floatSum(ctx context.Context, w *pgas.World, right bool) error {
	sums := seen(pgas.Alloc[float64](ctx, w, 2))
	sum := pgas.AtomicFloatOf(sums, 0)
	if w.PE() == 1 || right {
		sum.Add(0, 1) // first
	} else {
		sums.At(0).Put(0, sums.At(0).Get(0)+1) // then
	}
	return w.Barrier(ctx)
}
