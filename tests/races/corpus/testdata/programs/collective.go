package programs

// The memory of collectives.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func collective() []pair {
	return []pair{
		{2, storeInSourceOfReduceNB}, {2, loadOfDestinationOfReduceNB}, {2, rootStoresTooEarly}, {2, putBeforeCollective},
		{3, getOfOtherDestination}, {3, putIntoOtherSource}, {2, requestTestIgnored}, {2, storeBetweenRequests},
		{3, outsiderPut}, {2, allToAllTooEarly}, {2, loadOfDestinationOfCollectNB}, {2, putFromPendingDestination},
		{2, broadcastThenGet}, {2, scanTooEarly},
	}
}

func storeInSourceOfReduceNB(ctx context.Context, w *pgas.World, right bool) error {
	src, dst := many(ctx, w, 4), many(ctx, w, 4)
	src.Local()[0] = 1
	r := pgas.SumReduceNB(ctx, w.Team(), dst, src) // first
	if right {
		must(r.Wait(ctx))
	}
	src.Local()[0] = 10 // then
	must(r.Wait(ctx))
	want(ctx, dst.Local()[0], 2)
	return w.Barrier(ctx)
}

func loadOfDestinationOfReduceNB(ctx context.Context, w *pgas.World, right bool) error {
	src, dst := many(ctx, w, 4), many(ctx, w, 4)
	src.Local()[3] = 1
	r := pgas.MaxReduceNB(ctx, w.Team(), dst, src) // first
	if right {
		must(r.Wait(ctx))
	}
	got := dst.Local()[3] // then
	must(r.Wait(ctx))
	want(ctx, got, 1)
	return w.Barrier(ctx)
}

func rootStoresTooEarly(ctx context.Context, w *pgas.World, right bool) error {
	src, dst := many(ctx, w, 4), many(ctx, w, 4)
	if w.PE() == 0 {
		src.Local()[0] = 7
	}
	r := pgas.BroadcastNB(ctx, w.Team(), dst, src, 0) // first
	if w.PE() == 0 {
		if right {
			must(r.Wait(ctx))
		}
		src.Local()[0] = 8 // then
	}
	must(r.Wait(ctx))
	if w.PE() == 1 {
		want(ctx, dst.Local()[0], 7)
	}
	return w.Barrier(ctx)
}

// putBeforeCollective puts to the source of another member, which may be in the collective by then.
func putBeforeCollective(ctx context.Context, w *pgas.World, right bool) error {
	src, dst := many(ctx, w, 4), many(ctx, w, 4)
	src.At(0).Put(1-w.PE(), 1) // first
	if right {
		must(w.Barrier(ctx))
	}
	must(pgas.SumReduce(ctx, w.Team(), dst, src)) // then
	want(ctx, dst.Local()[0], 2)
	return w.Barrier(ctx)
}

func getOfOtherDestination(ctx context.Context, w *pgas.World, right bool) error {
	src, dst := many(ctx, w, 1024), many(ctx, w, 3*1024)
	src.Local()[0] = int64(w.PE()) + 1
	must(pgas.FCollect(ctx, w.Team(), dst, src)) // first
	if right {
		must(w.Sync(ctx))
	}
	if w.PE() == 0 {
		want(ctx, dst.At(1024).Get(2), 2) // then
	}
	return w.Barrier(ctx)
}

func putIntoOtherSource(ctx context.Context, w *pgas.World, right bool) error {
	src, dst := many(ctx, w, 1024), many(ctx, w, 1024)
	src.Local()[5] = 1
	must(pgas.SumReduce(ctx, w.Team(), dst, src)) // first
	if right {
		must(w.Sync(ctx))
	}
	if w.PE() == 0 {
		src.At(5).Put(1, 100) // then
	}
	must(w.Barrier(ctx))
	want(ctx, dst.Local()[5], 3)
	return nil
}

func requestTestIgnored(ctx context.Context, w *pgas.World, right bool) error {
	src, dst, sigs := many(ctx, w, 4), many(ctx, w, 8), signals(ctx, w)
	src.Local()[0] = 7
	if w.PE() == 1 {
		seen(pgas.SignalOf(sigs, 0).WaitUntil(ctx, pgas.EQ, 1))
	}
	r := pgas.FCollectNB(ctx, w.Team(), dst, src) // first
	done, err := r.Test()
	must(err)
	if w.PE() == 0 {
		pgas.SignalOf(sigs, 0).Set(1, 1)
		for right && !done {
			w.Yield()
			done, err = r.Test()
			must(err)
		}
		use(dst.Local()[4]) // then
	}
	must(r.Wait(ctx))
	return w.Barrier(ctx)
}

// storeBetweenRequests waits for the first of two requests, and stores to the source of the second one.
func storeBetweenRequests(ctx context.Context, w *pgas.World, right bool) error {
	a, b, sums := many(ctx, w, 4), many(ctx, w, 4), many(ctx, w, 8)
	b.Local()[0] = 1
	first := pgas.SumReduceNB(ctx, w.Team(), sums.Range(0, 4), a)
	second := pgas.SumReduceNB(ctx, w.Team(), sums.Range(4, 8), b) // first
	must(first.Wait(ctx))
	if right {
		must(second.Wait(ctx))
	}
	b.Local()[0] = 100 // then
	must(second.Wait(ctx))
	want(ctx, sums.Local()[4], 2)
	return w.Barrier(ctx)
}

// outsiderPut has a PE that is in no collective write to the source of one.
func outsiderPut(ctx context.Context, w *pgas.World, right bool) error {
	src, dst := many(ctx, w, 4), many(ctx, w, 4)
	two := seen(w.Team().SplitStrided(ctx, 0, 1, 2))
	if w.PE() == 2 {
		src.At(1).Put(1, 7) // first
	}
	if right {
		must(w.Barrier(ctx))
	}
	if two != nil {
		must(pgas.SumReduce(ctx, two, dst, src)) // then
		want(ctx, dst.Local()[1], 7)
	}
	return w.Barrier(ctx)
}

func allToAllTooEarly(ctx context.Context, w *pgas.World, right bool) error {
	src, dst := many(ctx, w, 8), many(ctx, w, 8)
	for i := range src.Local() {
		src.Local()[i] = int64(w.PE())
	}
	r := pgas.AllToAllNB(ctx, w.Team(), dst, src) // first
	if right {
		must(r.Wait(ctx))
	}
	for i := range src.Local() {
		src.Local()[i] = -1 // then
	}
	must(r.Wait(ctx))
	want(ctx, dst.Local()[5], 1)
	return w.Barrier(ctx)
}

func loadOfDestinationOfCollectNB(ctx context.Context, w *pgas.World, right bool) error {
	src, dst, n := many(ctx, w, 4), many(ctx, w, 8), 0
	r := pgas.CollectNB(ctx, w.Team(), dst, src.Range(0, 1+w.PE()), &n) // first
	if right {
		must(r.Wait(ctx))
	}
	got := n // then
	must(r.Wait(ctx))
	want(ctx, int64(got), 3)
	return w.Barrier(ctx)
}

// putFromPendingDestination sends the result on before it is there.
func putFromPendingDestination(ctx context.Context, w *pgas.World, right bool) error {
	src, dst, data := many(ctx, w, 4), many(ctx, w, 4), numbers(ctx, w)
	src.Local()[0] = 1
	r := pgas.SumReduceNB(ctx, w.Team(), dst, src) // first
	if right {
		must(r.Wait(ctx))
	}
	data.Put(1-w.PE(), dst.Local()) // then
	must(r.Wait(ctx))
	must(w.Barrier(ctx))
	want(ctx, data.Local()[0], 2)
	return nil
}

// broadcastThenGet: a broadcast has returned on its root before the others have the data.
func broadcastThenGet(ctx context.Context, w *pgas.World, right bool) error {
	src, dst := many(ctx, w, 4), many(ctx, w, 4)
	src.Local()[0] = 7
	must(pgas.Broadcast(ctx, w.Team(), dst, src, 0)) // first
	if right {
		must(w.Sync(ctx))
	}
	if w.PE() == 0 {
		want(ctx, dst.At(0).Get(1), 7) // then
	}
	return w.Barrier(ctx)
}

// scanTooEarly: PE 1 does not know after a scan that PE 0 has ended its call, and may not write to its result.
func scanTooEarly(ctx context.Context, w *pgas.World, right bool) error {
	src, dst := many(ctx, w, 4), many(ctx, w, 4)
	src.Local()[0] = 1
	must(pgas.SumInscan(ctx, w.Team(), dst, src)) // first
	if right {
		must(w.Sync(ctx))
	}
	if w.PE() == 1 {
		dst.At(0).Put(0, 100) // then
	}
	return w.Barrier(ctx)
}
