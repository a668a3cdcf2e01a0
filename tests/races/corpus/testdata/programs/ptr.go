package programs

// A neighbour's memory through Ptr. The PEs are on one host.

import (
	"context"
	syncatomic "sync/atomic"

	"github.com/gopgas/gopgas/pgas"
)

func ptr() []pair {
	return []pair{
		{2, ptrStoreAndLoad}, {2, ptrStoreWithoutFence}, {2, ptrLoadAndPut}, {2, ptrStoreAndAdd}, {3, ptrStoreAndGet},
		{2, ptrStoreAndStore}, {2, ptrLoadAfterSync}, {3, ptrStoreAndPtrLoad},
	}
}

func ptrStoreAndLoad(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.Ptr(1)[0] = 7 // first
	}
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

// ptrStoreWithoutFence: a store is ordered by a fence, as a put is.
func ptrStoreWithoutFence(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		data.Ptr(1)[0] = 7 // first
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

func ptrLoadAndPut(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		use(data.Ptr(1)[3]) // first
	}
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 1 {
		data.At(3).Put(1, 7) // then
	}
	return w.Barrier(ctx)
}

func ptrStoreAndAdd(ctx context.Context, w *pgas.World, right bool) error {
	state := words(ctx, w)
	word := &state.Ptr(1)[0]
	if w.PE() == 0 {
		if right {
			syncatomic.StoreInt64(word, 5)
		} else {
			*word = 5 // first
		}
	} else {
		pgas.AtomicOf(state, 0).Add(1, 1) // then
	}
	must(w.Barrier(ctx))
	use(syncatomic.LoadInt64(word))
	return nil
}

func ptrStoreAndGet(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		*data.At(0).Ptr(1) = 7 // first
	}
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 2 {
		want(ctx, data.At(0).Get(1), 7) // then
	}
	return w.Barrier(ctx)
}

func ptrStoreAndStore(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		copy(data.Range(0, 4).Ptr(1), []int64{1, 2, 3, 4}) // first
	}
	if right {
		must(w.Sync(ctx))
	}
	if w.PE() == 1 {
		data.Local()[3] = 9 // then
	}
	return w.Barrier(ctx)
}

// ptrLoadAfterSync looks through Ptr at what a put without a quiet has written.
func ptrLoadAfterSync(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.At(0).PutNB(0, &[]int64{7}[0]) // first
		if right {
			must(w.Quiet(ctx))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Ptr(0)[0], 7) // then
	}
	return w.Barrier(ctx)
}

func ptrStoreAndPtrLoad(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.Ptr(2)[1] = 7 // first
	}
	if right {
		must(w.Sync(ctx))
	}
	if w.PE() == 1 {
		want(ctx, data.Ptr(2)[1], 7) // then
	}
	return w.Barrier(ctx)
}
