package programs

// Two PEs access the memory of a third one, or one of them its own, and nothing orders the two.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func remote() []pair {
	return []pair{
		{3, putAndPut}, {3, putAndGet}, {2, putAndLoad}, {2, putAndStore}, {2, getAndStore}, {2, getNBAndStore},
		{2, sameSlot}, {3, rangesOverlap}, {3, largePutsOverlap}, {3, adjacentBytes}, {2, shiftWithoutBarrier},
		{2, exchangeWithoutBarrier}, {2, putIntoSource}, {2, putToSelf}, {3, putAndAdd}, {2, loadAndAdd},
		{2, storeAndAdd}, {3, getAndCompareSwap}, {2, lostUpdate}, {2, plainFlag}, {2, stencil}, {3, gatherAtRoot},
	}
}

func putAndPut(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.At(0).Put(2, 7) // first
	}
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 1 {
		data.At(0).Put(2, 8) // then
	}
	return w.Barrier(ctx)
}

func putAndGet(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.At(1).Put(1, 7) // first
	}
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 2 {
		want(ctx, data.At(1).Get(1), 7) // then
	}
	return w.Barrier(ctx)
}

func putAndLoad(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.Put(1, []int64{7, 8, 9}) // first
	}
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 1 {
		want(ctx, data.Local()[1], 8) // then
	}
	return w.Barrier(ctx)
}

func putAndStore(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 1 {
		*data.At(0).Local() = 1 // then
	}
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
	}
	return w.Barrier(ctx)
}

func getAndStore(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 1 {
		data.Local()[0] = 7 // first
	}
	if right {
		must(w.Sync(ctx))
	}
	if w.PE() == 0 {
		want(ctx, data.At(0).Get(1), 7) // then
	}
	return w.Barrier(ctx)
}

func getNBAndStore(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), []int64{7}
	if w.PE() == 0 {
		data.Range(0, 1).GetNB(1, dst) // first
	}
	if right {
		must(w.Barrier(ctx))
	} else {
		must(w.Sync(ctx))
	}
	if w.PE() == 1 {
		data.Local()[0] = 7 // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		want(ctx, dst[0], 0)
	}
	return nil
}

func sameSlot(ctx context.Context, w *pgas.World, right bool) error {
	data, slot := numbers(ctx, w), 0
	if right {
		slot = w.PE()
	}
	data.At(slot).Put(0, int64(w.PE())) // first and then
	return w.Barrier(ctx)
}

func rangesOverlap(ctx context.Context, w *pgas.World, right bool) error {
	data, n := numbers(ctx, w), 9
	if right {
		n = 8
	}
	from := 8 * w.PE()
	data.Range(from, from+n).Put(0, make([]int64, n)) // first and then
	return w.Barrier(ctx)
}

func largePutsOverlap(ctx context.Context, w *pgas.World, right bool) error {
	const n = 1 << 15 // 256 KiB
	data, src := many(ctx, w, 2*n), make([]int64, n)
	if w.PE() == 0 {
		data.Range(0, n).Put(2, src) // first
	}
	if w.PE() == 1 {
		if right {
			data.Range(n, 2*n).Put(2, src)
		} else {
			data.Range(n-1, 2*n-1).Put(2, src) // then
		}
	}
	return w.Barrier(ctx)
}

// adjacentBytes has two PEs write bytes of the same word.
func adjacentBytes(ctx context.Context, w *pgas.World, right bool) error {
	text := seen(pgas.Alloc[byte](ctx, w, 16)).All()
	if w.PE() == 0 {
		text.Range(0, 3).Put(2, []byte("abc")) // first
	}
	if w.PE() == 1 {
		if right {
			text.Range(3, 6).Put(2, []byte("def"))
		} else {
			text.Range(2, 5).Put(2, []byte("def")) // then
		}
	}
	return w.Barrier(ctx)
}

func shiftWithoutBarrier(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	data.At(0).Put((w.PE()+1)%w.NPEs(), int64(w.PE())) // first
	if right {
		must(w.Barrier(ctx))
	}
	want(ctx, data.Local()[0], int64(1-w.PE())) // then
	return w.Barrier(ctx)
}

func exchangeWithoutBarrier(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	data.Local()[0] = int64(w.PE())
	must(w.Barrier(ctx))
	got := data.At(0).Get(1 - w.PE()) // first
	if right {
		must(w.Barrier(ctx))
	}
	data.Local()[0] = 10 + got // then
	want(ctx, got, int64(1-w.PE()))
	return w.Barrier(ctx)
}

// putIntoSource sends from symmetric memory, which another PE writes.
func putIntoSource(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.Range(8, 12).Put(1, data.Local()[:4]) // first
	}
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 1 {
		data.At(2).Put(0, 7) // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[10], 0)
	}
	return nil
}

// putToSelf: a PE's own copy is a target like any other.
func putToSelf(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	data.At(0).Put(w.PE(), 7) // first
	if right {
		must(w.Quiet(ctx))
	}
	want(ctx, data.Local()[0], 7) // then
	return w.Barrier(ctx)
}

func putAndAdd(ctx context.Context, w *pgas.World, right bool) error {
	table := words(ctx, w)
	if w.PE() == 0 {
		pgas.AtomicOf(table, 0).Add(2, 1) // first
	}
	if w.PE() == 1 {
		if right {
			pgas.AtomicOf(table, 0).Set(2, 5)
		} else {
			table.At(0).Put(2, 5) // then
		}
	}
	return w.Barrier(ctx)
}

func loadAndAdd(ctx context.Context, w *pgas.World, right bool) error {
	table := words(ctx, w)
	if w.PE() == 0 {
		pgas.AtomicOf(table, 1).Inc(1) // first
	}
	if w.PE() == 1 {
		if right {
			use(pgas.AtomicOf(table, 1).Fetch(1))
		} else {
			use(table.Local()[1]) // then
		}
	}
	return w.Barrier(ctx)
}

func storeAndAdd(ctx context.Context, w *pgas.World, right bool) error {
	table := words(ctx, w)
	count := pgas.AtomicOf(table, 0)
	if w.PE() == 0 {
		if right {
			count.Set(0, 0)
		} else {
			table.Local()[0] = 0 // first
		}
	}
	count.FetchAdd(0, 1) // then
	return w.Barrier(ctx)
}

func getAndCompareSwap(ctx context.Context, w *pgas.World, right bool) error {
	table := words(ctx, w)
	if w.PE() == 0 {
		pgas.AtomicOf(table, 0).CompareSwap(2, 0, 7) // first
	}
	if right {
		must(w.Sync(ctx))
	}
	if w.PE() == 1 {
		want(ctx, table.At(0).Get(2), 7) // then
	}
	return w.Barrier(ctx)
}

func lostUpdate(ctx context.Context, w *pgas.World, right bool) error {
	data, count := numbers(ctx, w), words(ctx, w)
	if right {
		pgas.AtomicOf(count, 0).Add(0, 1)
	} else {
		v := data.At(0).Get(0) // first
		data.At(0).Put(0, v+1) // then
	}
	return w.Barrier(ctx)
}

// plainFlag passes data by a flag that is an ordinary number.
func plainFlag(ctx context.Context, w *pgas.World, right bool) error {
	data, flag := numbers(ctx, w), words(ctx, w)
	if w.PE() == 0 {
		data.At(0).Put(1, 7)
		w.Fence()
		if right {
			pgas.AtomicOf(flag, 0).Set(1, 1)
		} else {
			flag.At(0).Put(1, 1) // first
		}
	}
	if w.PE() == 1 {
		if right {
			seen(pgas.AtomicOf(flag, 0).WaitUntil(ctx, pgas.EQ, 1))
			want(ctx, data.Local()[0], 7)
		}
		for i := 0; !right && i < 20 && *flag.At(0).Local() == 0; i++ { // then
			w.Yield()
		}
	}
	return w.Barrier(ctx)
}

// stencil has one barrier for each step, and needs two.
func stencil(ctx context.Context, w *pgas.World, right bool) error {
	halo, mine := numbers(ctx, w), int64(w.PE())
	for step := range 3 {
		halo.At(0).Put(1-w.PE(), mine) // first
		must(w.Barrier(ctx))
		want(ctx, halo.Local()[0], int64(step*10+1-w.PE())) // then
		mine += 10
		if right {
			must(w.Sync(ctx))
		}
	}
	return w.Barrier(ctx)
}

func gatherAtRoot(ctx context.Context, w *pgas.World, right bool) error {
	data, sum := numbers(ctx, w), int64(0)
	data.At(w.PE()).Put(0, int64(w.PE())) // first
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 0 {
		for _, v := range data.Local()[:w.NPEs()] { // then
			sum += v
		}
		want(ctx, sum, 3)
	}
	return w.Barrier(ctx)
}
