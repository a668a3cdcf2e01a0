package programs

// The initiator's own buffers: the source of a put and the destination of a get that do not wait.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func local() []pair {
	return []pair{
		{2, storeAfterPutNB}, {2, storeAfterRefPutNB}, {2, storeInLargeSource}, {2, storeThroughAlias},
		{2, storeInCallee}, {2, storeInNextRound}, {2, storeInEveryThirdRound}, {2, storeAfterPutSignalNB},
		{2, storeAfterOtherCompletion}, {2, storeAfterFence}, {2, storeInGoroutine}, {2, storeBesideField},
		{2, loadAfterGetNB}, {2, loadAfterRefGetNB}, {2, storeAfterGetNB}, {2, loadInCallee}, {2, getTwice},
		{2, getIntoOverlap}, {2, putFromPendingGet}, {2, putNBFromPendingGet}, {2, getIntoPendingSource},
		{2, loadAfterFetchAddNB}, {2, loadAfterFetchNBs}, {2, loadAfterQuietLocal}, {3, loadAfterQuietPE},
		{2, loadAfterOtherQuiet}, {2, loadAfterSync}, {2, loadInGoroutine}, {2, accumulateTooEarly},
	}
}

func storeAfterPutNB(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{7}
	if w.PE() == 0 {
		data.PutNB(1, src) // first
		if right {
			must(w.Context().QuietLocal(ctx))
		}
		src[0] = 8 // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7)
	}
	return nil
}

// storeAfterRefPutNB: a Ref's PutNB has read the element when it returns, and a Slice's has not.
func storeAfterRefPutNB(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{7}
	if w.PE() == 0 {
		if right {
			data.At(3).PutNB(1, &src[0])
		} else {
			data.At(3).Slice().PutNB(1, src) // first
		}
		src[0]++ // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[3], 7)
	}
	return nil
}

func storeInLargeSource(ctx context.Context, w *pgas.World, right bool) error {
	data, src := many(ctx, w, 1<<15), make([]int64, 1<<15) // 256 KiB
	if w.PE() == 0 {
		data.PutNB(1, src) // first
		if right {
			must(w.Quiet(ctx))
		}
		src[1<<14] = 8 // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[1<<14], 0)
	}
	return nil
}

func storeThroughAlias(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{1, 2, 3, 4, 5, 6}
	half := src[2:]
	if w.PE() == 0 {
		data.PutNB(1, src) // first
		if right {
			half = make([]int64, 4)
		}
		half[1] = 0 // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[3], 4)
	}
	return nil
}

func storeInCallee(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{7, 7}
	send := func(to int, v []int64) {
		data.PutNB(to, v) // first
	}
	reset := func(v []int64) {
		for i := range v {
			v[i] = 0 // then
		}
	}
	if w.PE() == 0 {
		send(1, src)
		if right {
			must(w.Quiet(ctx))
		}
		reset(src)
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[1], 7)
	}
	return nil
}

func storeInNextRound(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), make([]int64, 1)
	if w.PE() == 0 {
		for i := range 4 {
			src[0] = int64(i)                // then
			data.Range(i, i+1).PutNB(1, src) // first
			if right {
				must(w.Context().QuietLocal(ctx))
			}
		}
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[2], 2)
	}
	return nil
}

func storeInEveryThirdRound(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	var buffers [2][4]int64
	if w.PE() == 0 {
		for i := range 4 {
			b := &buffers[i%2]
			b[0] = int64(i)                       // then
			data.Range(4*i, 4*i+4).PutNB(1, b[:]) // first
			if right && i%2 == 1 {
				w.MustQuiet()
			}
		}
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[4], 1)
	}
	return nil
}

func storeAfterPutSignalNB(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs, src := numbers(ctx, w), signals(ctx, w), []int64{7, 8}
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		sent := data.PutSignalNB(1, src, sig, 1) // first
		if right {
			must(sent.Wait(ctx))
		}
		src[1] = 0 // then
	} else {
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[1], 8)
	}
	return w.Barrier(ctx)
}

func storeAfterOtherCompletion(ctx context.Context, w *pgas.World, right bool) error {
	data, a, b := numbers(ctx, w), []int64{7}, []int64{8}
	if w.PE() == 0 {
		sentA := data.Range(0, 1).PutNB(1, a) // first
		sentB := data.Range(1, 2).PutNB(1, b)
		if right {
			must(sentA.Wait(ctx))
		} else {
			must(sentB.Wait(ctx))
		}
		a[0] = 9 // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7)
	}
	return nil
}

func storeAfterFence(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{7}
	if w.PE() == 0 {
		data.PutNB(1, src) // first
		if right {
			must(w.Quiet(ctx))
		} else {
			w.Fence()
		}
		src[0] = 8 // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7)
	}
	return nil
}

func storeInGoroutine(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{7}
	if w.PE() == 0 {
		data.PutNB(1, src) // first
		if right {
			w.MustQuiet()
		}
		must(w.Go(ctx, func(context.Context) error {
			src[0] = 8 // then
			return nil
		}).Wait())
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7)
	}
	return nil
}

// storeBesideField stores to a neighbour of what is being read. That is no conflict.
func storeBesideField(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	var src struct{ a, b [2]int64 }
	src.a[1] = 7
	if w.PE() == 0 {
		data.PutNB(1, src.a[:]) // first
		if right {
			src.b[0] = 8
		} else {
			src.a[1] = 8 // then
		}
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[1], 7)
	}
	return nil
}

func loadAfterGetNB(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 4)
	data.Local()[2] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.Range(0, 4).GetNB(1, dst) // first
		if right {
			must(w.Quiet(ctx))
		}
		want(ctx, dst[2], 7) // then
	}
	return w.Barrier(ctx)
}

func loadAfterRefGetNB(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), new(int64)
	data.Local()[5] = 7
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		data.At(5).GetNB(0, dst) // first
		if right {
			must(w.Context().QuietPE(ctx, 0))
		}
		want(ctx, *dst, 7) // then
	}
	return w.Barrier(ctx)
}

func storeAfterGetNB(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 4)
	if w.PE() == 0 {
		data.Range(0, 4).GetNB(1, dst) // first
		if right {
			must(w.Quiet(ctx))
		}
		dst[3] = 9 // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		want(ctx, dst[3], 9)
	}
	return nil
}

func loadInCallee(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 4)
	sum := func(v []int64) (s int64) {
		for _, x := range v { // then
			s += x
		}
		return s
	}
	data.Local()[1] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.Range(0, 4).GetNB(1, dst) // first
		if right {
			w.MustQuiet()
		}
		want(ctx, sum(dst), 7)
	}
	return w.Barrier(ctx)
}

func getTwice(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 4)
	if w.PE() == 0 {
		data.Range(0, 4).GetNB(1, dst) // first
		if right {
			must(w.Quiet(ctx))
		}
		data.Range(4, 8).GetNB(1, dst) // then
		must(w.Quiet(ctx))
	}
	return w.Barrier(ctx)
}

func getIntoOverlap(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 8)
	if w.PE() == 0 {
		data.Range(0, 4).GetNB(1, dst[:4]) // first
		if right {
			data.Range(4, 8).GetNB(1, dst[4:])
		} else {
			data.Range(4, 8).GetNB(1, dst[3:7]) // then
		}
		must(w.Quiet(ctx))
	}
	return w.Barrier(ctx)
}

func putFromPendingGet(ctx context.Context, w *pgas.World, right bool) error {
	data, buf := numbers(ctx, w), make([]int64, 1)
	data.Local()[0] = int64(w.PE()) + 6
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.Range(0, 1).GetNB(1, buf) // first
		if right {
			must(w.Quiet(ctx))
		}
		data.Range(9, 10).Put(1, buf) // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[9], 7)
	}
	return nil
}

func putNBFromPendingGet(ctx context.Context, w *pgas.World, right bool) error {
	data, buf := numbers(ctx, w), make([]int64, 1)
	data.Local()[0] = int64(w.PE()) + 6
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.Range(0, 1).GetNB(1, buf) // first
		if right {
			must(w.Quiet(ctx))
		}
		data.Range(9, 10).PutNB(1, buf) // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[9], 7)
	}
	return nil
}

func getIntoPendingSource(ctx context.Context, w *pgas.World, right bool) error {
	data, buf := numbers(ctx, w), []int64{7}
	if w.PE() == 0 {
		data.Range(0, 1).PutNB(1, buf) // first
		if right {
			must(w.Context().QuietLocal(ctx))
		}
		data.Range(9, 10).Get(1, buf) // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7)
	}
	return nil
}

func loadAfterFetchAddNB(ctx context.Context, w *pgas.World, right bool) error {
	tickets, mine := words(ctx, w), new(int64)
	*mine = -1
	pgas.AtomicOf(tickets, 0).FetchAddNB(0, 1, mine) // first
	if right {
		must(w.Quiet(ctx))
	}
	wantOneOf(ctx, *mine, 0, 1) // then
	return w.Barrier(ctx)
}

func loadAfterFetchNBs(ctx context.Context, w *pgas.World, right bool) error {
	table, copied := words(ctx, w), make([]int64, 4)
	pgas.AtomicOf(table, 2).Set(w.PE(), 7)
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		pgas.AtomicsOf(table.All()).FetchNB(1, copied) // first
		if right {
			must(w.Quiet(ctx))
		}
		want(ctx, copied[2], 7) // then
	}
	return w.Barrier(ctx)
}

func loadAfterQuietLocal(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 4)
	data.Local()[0] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.Range(0, 4).GetNB(1, dst) // first
		if right {
			must(w.Quiet(ctx))
		} else {
			must(w.Context().QuietLocal(ctx))
		}
		want(ctx, dst[0], 7) // then
	}
	return w.Barrier(ctx)
}

func loadAfterQuietPE(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 4)
	data.Local()[0] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.Range(0, 4).GetNB(1, dst) // first
		if right {
			must(w.Context().QuietPE(ctx, 1))
		} else {
			must(w.Context().QuietPE(ctx, 2))
		}
		want(ctx, dst[0], 7) // then
	}
	return w.Barrier(ctx)
}

func loadAfterOtherQuiet(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 4)
	c := seen(w.NewContext())
	data.Local()[0] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.Range(0, 4).On(c).GetNB(1, dst) // first
		if right {
			must(c.Quiet(ctx))
		} else {
			must(w.Quiet(ctx))
		}
		want(ctx, dst[0], 7) // then
	}
	must(c.Close())
	return w.Barrier(ctx)
}

func loadAfterSync(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 4)
	data.Local()[0] = 7
	must(w.Barrier(ctx))
	data.Range(0, 4).GetNB(1-w.PE(), dst) // first
	if right {
		must(w.Barrier(ctx))
	} else {
		must(w.Sync(ctx))
	}
	want(ctx, dst[0], 7) // then
	return w.Barrier(ctx)
}

func loadInGoroutine(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 4)
	data.Local()[0] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.Range(0, 4).GetNB(1, dst) // first
		if right {
			w.MustQuiet()
		}
		must(w.Go(ctx, func(context.Context) error {
			want(ctx, dst[0], 7) // then
			return nil
		}).Wait())
	}
	return w.Barrier(ctx)
}

// accumulateTooEarly fetches the next block while it adds up the last one.
func accumulateTooEarly(ctx context.Context, w *pgas.World, right bool) error {
	data, sum := numbers(ctx, w), int64(0)
	for i := range data.Local() {
		data.Local()[i] = 1
	}
	must(w.Barrier(ctx))
	var blocks [2][8]int64
	data.Range(0, 8).GetNB(1-w.PE(), blocks[0][:])
	must(w.Quiet(ctx))
	for i := range 8 {
		next := &blocks[(i+1)%2]
		if i < 7 {
			data.Range(8*i+8, 8*i+16).GetNB(1-w.PE(), next[:]) // first
		}
		if right {
			must(w.Quiet(ctx))
			next = &blocks[i%2]
		}
		for j := range next {
			sum += next[j] // then
		}
	}
	must(w.Quiet(ctx))
	want(ctx, sum, 64)
	return w.Barrier(ctx)
}
