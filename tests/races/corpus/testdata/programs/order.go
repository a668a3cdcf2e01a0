package programs

// Data and a flag: what must stand between the two.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func order() []pair {
	return []pair{
		{2, noFence}, {2, noFenceAfterPutNB}, {2, fenceOnOtherContext}, {3, fenceForOtherPE}, {2, fenceBeforePut},
		{3, fenceForTwoPEs}, {3, fenceInChain}, {2, flagOnOtherContext}, {2, atomicFlagWithoutFence},
		{2, fetchingFlagWithoutFence}, {3, countedWithoutFence}, {2, largeWithoutFence}, {2, stridedWithoutFence},
		{2, quietBeforePut}, {2, secondRoundWithoutAnswer}, {2, answerTooEarly}, {2, addBeforeFence},
		{2, bufferOneRoundTooFar},
	}
}

func noFence(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			w.Fence()
		}
		sig.Set(1, 1)
	} else {
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func noFenceAfterPutNB(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 1)
	if w.PE() == 0 {
		data.PutNB(1, []int64{7, 8}) // first
		if right {
			w.Fence()
		} else {
			must(w.Context().QuietLocal(ctx))
		}
		sig.Add(1, 1)
	} else {
		seen(sig.WaitUntil(ctx, pgas.GE, 1))
		want(ctx, data.Local()[1], 8) // then
	}
	return w.Barrier(ctx)
}

func fenceOnOtherContext(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	c := seen(w.NewContext())
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			w.Fence()
		} else {
			c.Fence()
		}
		sig.Set(1, 1)
	} else {
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	}
	must(c.Close())
	return w.Barrier(ctx)
}

func fenceForOtherPE(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	switch w.PE() {
	case 0:
		data.At(0).Put(1, 7) // first
		if right {
			w.Context().FencePE(1)
		} else {
			w.Context().FencePE(2)
		}
		sig.Set(1, 1)
	case 1:
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func fenceBeforePut(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		if !right {
			w.Fence()
		}
		data.At(0).Put(1, 7) // first
		if right {
			w.Fence()
		}
		sig.Set(1, 1)
	} else {
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

// fenceForTwoPEs puts to one PE and signals another, which then looks at the first one.
func fenceForTwoPEs(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	switch w.PE() {
	case 0:
		data.At(0).Put(1, 7) // first
		if right {
			must(w.Quiet(ctx))
		} else {
			w.Fence()
		}
		sig.Set(2, 1)
	case 2:
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.At(0).Get(1), 7) // then
	}
	return w.Barrier(ctx)
}

// fenceInChain puts to PE 2, and tells PE 1, which tells PE 2.
func fenceInChain(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	switch w.PE() {
	case 0:
		data.At(0).Put(2, 7) // first
		if right {
			w.MustQuiet()
		} else {
			w.Fence()
		}
		sig.Set(1, 1)
	case 1:
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		sig.Set(2, 1)
	case 2:
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func flagOnOtherContext(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	c := seen(w.NewContext())
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			must(w.Quiet(ctx))
		} else {
			w.Fence()
		}
		sig.On(c).Set(1, 1)
		must(c.Quiet(ctx))
	} else {
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	}
	must(c.Close())
	return w.Barrier(ctx)
}

func atomicFlagWithoutFence(ctx context.Context, w *pgas.World, right bool) error {
	data, flags := numbers(ctx, w), words(ctx, w)
	flag := pgas.AtomicOf(flags, 0)
	if w.PE() == 0 {
		data.Put(1, []int64{7, 8, 9}) // first
		if right {
			w.Fence()
		}
		flag.Set(1, 1)
	} else {
		seen(flag.WaitUntil(ctx, pgas.NE, 0))
		want(ctx, data.Local()[2], 9) // then
	}
	return w.Barrier(ctx)
}

func fetchingFlagWithoutFence(ctx context.Context, w *pgas.World, right bool) error {
	data, flags := numbers(ctx, w), words(ctx, w)
	flag := pgas.AtomicOf(flags, 0)
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			w.Fence()
		}
		flag.Swap(1, 1)
	} else {
		seen(flag.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func countedWithoutFence(ctx context.Context, w *pgas.World, right bool) error {
	data, counts := numbers(ctx, w), words(ctx, w)
	count := pgas.AtomicOf(counts, 0)
	if w.PE() > 0 {
		data.At(w.PE()).Put(0, 7) // first
		if right {
			w.Fence()
		}
		count.Add(0, 1)
	} else {
		seen(count.WaitUntil(ctx, pgas.EQ, 2))
		want(ctx, data.Local()[1]+data.Local()[2], 14) // then
	}
	return w.Barrier(ctx)
}

func largeWithoutFence(ctx context.Context, w *pgas.World, right bool) error {
	const n = 1 << 15 // 256 KiB
	data, sigs := many(ctx, w, n), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		src := make([]int64, n)
		src[n-1] = 7
		data.Put(1, src) // first
		if right {
			w.Fence()
		}
		sig.Set(1, 1)
	} else {
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[n-1], 7) // then
	}
	return w.Barrier(ctx)
}

func stridedWithoutFence(ctx context.Context, w *pgas.World, right bool) error {
	grid, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		grid.IPut(1, []int64{1, 2, 3, 4}, 8, 1, 4) // first
		if right {
			w.Fence()
		}
		sig.Set(1, 1)
	} else {
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, grid.Local()[24], 4) // then
	}
	return w.Barrier(ctx)
}

func quietBeforePut(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		if !right {
			must(w.Quiet(ctx))
		}
		data.At(0).Put(1, 7) // first
		if right {
			must(w.Quiet(ctx))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

// secondRoundWithoutAnswer puts the second block before the consumer is done with the first one.
func secondRoundWithoutAnswer(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	full, empty := pgas.SignalOf(sigs, 0), pgas.SignalOf(sigs, 1)
	for round := range uint64(3) {
		if w.PE() == 0 {
			if right {
				seen(empty.WaitUntil(ctx, pgas.GE, round))
			}
			data.PutSignal(1, []int64{int64(round)}, full, round+1) // then
		} else {
			seen(full.WaitUntil(ctx, pgas.GE, round+1))
			want(ctx, data.Local()[0], int64(round)) // first
			empty.Set(0, round+1)
		}
	}
	return w.Barrier(ctx)
}

// bufferOneRoundTooFar has two blocks, of which the producer fills one while the consumer reads the other. The wrong
// producer is two rounds ahead.
func bufferOneRoundTooFar(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	empty, ahead := pgas.SignalOf(sigs, 2), uint64(2)
	if right {
		ahead = 1
	}
	for round := range uint64(6) {
		block, full := int(round%2), pgas.SignalOf(sigs, int(round%2))
		if w.PE() == 0 {
			if round > ahead {
				seen(empty.WaitUntil(ctx, pgas.GE, round-ahead))
			}
			data.Range(block, block+1).PutSignal(1, []int64{int64(round)}, full, round+1) // then
		} else {
			seen(full.WaitUntil(ctx, pgas.GE, round+1))
			want(ctx, data.Local()[block], int64(round)) // first
			empty.Set(0, round+1)
		}
	}
	return w.Barrier(ctx)
}

func answerTooEarly(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	full, empty := pgas.SignalOf(sigs, 0), pgas.SignalOf(sigs, 1)
	for round := range uint64(3) {
		if w.PE() == 0 {
			seen(empty.WaitUntil(ctx, pgas.GE, round))
			data.PutSignal(1, []int64{int64(round)}, full, round+1) // then
			continue
		}
		seen(full.WaitUntil(ctx, pgas.GE, round+1))
		if !right {
			empty.Set(0, round+1)
		}
		use(data.Local()[0]) // first
		if right {
			empty.Set(0, round+1)
		}
	}
	return w.Barrier(ctx)
}

// addBeforeFence has the fence behind the flag.
func addBeforeFence(ctx context.Context, w *pgas.World, right bool) error {
	data, counts := numbers(ctx, w), words(ctx, w)
	count := pgas.AtomicOf(counts, 2)
	if w.PE() == 1 {
		data.Range(4, 6).Put(0, []int64{7, 8}) // first
		if right {
			w.Fence()
			count.Inc(0)
		} else {
			count.Inc(0)
			w.Fence()
		}
	} else {
		seen(count.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[5], 8) // then
	}
	return w.Barrier(ctx)
}
