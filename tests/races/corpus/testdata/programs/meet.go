package programs

// PEs that meet in a barrier, a sync or a collective, which does not complete what they have issued.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func meet() []pair {
	return []pair{
		{2, syncForBarrier}, {2, fenceThenSync}, {2, quietLocalThenSync}, {2, completionThenSync},
		{3, quietPEThenSync}, {2, quietOfOtherContext}, {2, barrierBeforePut}, {2, sumForBarrier},
		{3, broadcastForBarrier}, {3, collectForBarrier}, {2, signalNBThenSync}, {2, largeThenSync}, {2, addThenSync},
		{3, getAfterSync}, {2, putNBThenSync}, {2, stridedThenSync},
	}
}

func syncForBarrier(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
	}
	if right {
		must(w.Barrier(ctx))
	} else {
		must(w.Sync(ctx))
	}
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func fenceThenSync(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			must(w.Quiet(ctx))
		} else {
			w.Fence()
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func quietLocalThenSync(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.PutNB(1, []int64{7}) // first
		if right {
			must(w.Quiet(ctx))
		} else {
			must(w.Context().QuietLocal(ctx))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func completionThenSync(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		sent := data.PutNB(1, []int64{7}) // first
		must(sent.Wait(ctx))
		if right {
			must(w.Context().QuietPE(ctx, 1))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func quietPEThenSync(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		data.At(0).Put(2, 7)
		must(w.Context().QuietPE(ctx, 2))
		if right {
			must(w.Context().QuietPE(ctx, 1))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func quietOfOtherContext(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	c := seen(w.NewContext())
	if w.PE() == 0 {
		data.On(c).Put(1, []int64{7}) // first
		if right {
			must(c.Quiet(ctx))
		} else {
			must(w.Quiet(ctx))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	must(w.Barrier(ctx))
	return c.Close()
}

func barrierBeforePut(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if !right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
	}
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func sumForBarrier(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			must(w.Quiet(ctx))
		}
	}
	seen(pgas.SumValue(ctx, w.Team(), 1))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func broadcastForBarrier(ctx context.Context, w *pgas.World, right bool) error {
	data, n := numbers(ctx, w), many(ctx, w, 1)
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			must(w.Quiet(ctx))
		}
	}
	must(pgas.Broadcast(ctx, w.Team(), n, n, 0))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func collectForBarrier(ctx context.Context, w *pgas.World, right bool) error {
	data, src, dst := numbers(ctx, w), many(ctx, w, 1), many(ctx, w, 3)
	if w.PE() == 2 {
		data.At(0).PutNB(0, new(int64)) // first
		if right {
			must(w.Quiet(ctx))
		}
	}
	must(pgas.FCollect(ctx, w.Team(), dst, src))
	if w.PE() == 0 {
		data.Local()[0] = 7 // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		want(ctx, data.Local()[0], 7)
	}
	return nil
}

func signalNBThenSync(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	if w.PE() == 0 {
		data.PutSignalNB(1, []int64{7}, pgas.SignalOf(sigs, 0), 1) // first
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		if right {
			seen(pgas.SignalOf(sigs, 0).WaitUntil(ctx, pgas.EQ, 1))
		}
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func largeThenSync(ctx context.Context, w *pgas.World, right bool) error {
	const n = 1 << 15 // 256 KiB
	data := many(ctx, w, n)
	if w.PE() == 0 {
		src := make([]int64, n)
		src[n-1] = 7
		data.PutNB(1, src) // first
		if right {
			must(w.Quiet(ctx))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[n-1], 7) // then
	}
	return w.Barrier(ctx)
}

// addThenSync adds to a word without a result, and the owner reads it as an ordinary number.
func addThenSync(ctx context.Context, w *pgas.World, right bool) error {
	table := words(ctx, w)
	if w.PE() == 0 {
		pgas.AtomicOf(table, 0).Add(1, 7) // first
		if right {
			must(w.Quiet(ctx))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, table.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func getAfterSync(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.Range(0, 2).Put(1, []int64{7, 8}) // first
		if right {
			w.MustQuiet()
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 2 {
		want(ctx, data.At(1).Get(1), 8) // then
	}
	return w.Barrier(ctx)
}

func putNBThenSync(ctx context.Context, w *pgas.World, right bool) error {
	data, me := numbers(ctx, w), int64(w.PE())
	data.PutNB(1-w.PE(), []int64{me, me}) // first
	if right {
		must(w.Quiet(ctx))
	}
	must(w.Sync(ctx))
	want(ctx, data.Local()[1], 1-me) // then
	return w.Barrier(ctx)
}

func stridedThenSync(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.IPutNB(1, []int64{1, 2, 3, 4}, 4, 1, 4) // first
		if right {
			must(w.Quiet(ctx))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[12], 4) // then
	}
	return w.Barrier(ctx)
}
