package programs

// Strided forms: what they touch conflicts, and what lies between does not.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func strided() []pair {
	return []pair{
		{2, storeInStridedSource}, {2, loadOfStridedDestination}, {2, loadInGap}, {2, loadOfBlock}, {2, stridedOverlap},
		{3, stridedPutAndPut}, {3, stridedPutAndStridedPut}, {3, blocksOverlap}, {2, columnAndLoad}, {3, columnAndRow},
	}
}

func storeInStridedSource(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{1, 2, 3, 4, 5, 6}
	if w.PE() == 0 {
		data.IPutNB(1, src, 1, 2, 3) // first
		if right {
			must(w.Quiet(ctx))
		}
		src[2] = 9 // then
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[1], 3)
	}
	return nil
}

func loadOfStridedDestination(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 8)
	data.Local()[2] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.IGetNB(1, dst, 2, 1, 4) // first
		if right {
			must(w.Quiet(ctx))
		}
		want(ctx, dst[4], 7) // then
	}
	return w.Barrier(ctx)
}

// loadInGap loads an element that the strided get does not write.
func loadInGap(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 8)
	dst[3] = 5
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.IGetNB(1, dst, 2, 1, 4) // first
		if right {
			want(ctx, dst[3], 5)
		} else {
			use(dst[2]) // then
		}
		must(w.Quiet(ctx))
	}
	return w.Barrier(ctx)
}

func loadOfBlock(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 8)
	data.Local()[3] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.IBGetNB(1, dst, 4, 2, 2, 2) // first
		if right {
			must(w.Quiet(ctx))
		}
		want(ctx, dst[5], 7) // then
	}
	return w.Barrier(ctx)
}

func stridedOverlap(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 9)
	if w.PE() == 0 {
		data.IGetNB(1, dst, 2, 1, 4) // first
		if right {
			data.Range(8, 16).IGetNB(1, dst[1:], 2, 1, 4)
		} else {
			data.Range(8, 16).IGetNB(1, dst[2:], 2, 1, 3) // then
		}
		must(w.Quiet(ctx))
	}
	return w.Barrier(ctx)
}

func stridedPutAndPut(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.IPut(2, []int64{1, 2, 3, 4}, 3, 1, 4) // first
	}
	if w.PE() == 1 {
		if right {
			data.Range(4, 6).Put(2, []int64{8, 9})
		} else {
			data.Range(5, 7).Put(2, []int64{8, 9}) // then
		}
	}
	return w.Barrier(ctx)
}

func stridedPutAndStridedPut(ctx context.Context, w *pgas.World, right bool) error {
	data, v := numbers(ctx, w), []int64{1, 2, 3, 4}
	if w.PE() == 0 {
		data.IPut(2, v, 2, 1, 4) // first
	}
	if w.PE() == 1 {
		if right {
			data.Range(1, 9).IPut(2, v, 2, 1, 4)
		} else {
			data.Range(6, 14).IPut(2, v, 2, 1, 4) // then
		}
	}
	return w.Barrier(ctx)
}

func blocksOverlap(ctx context.Context, w *pgas.World, right bool) error {
	data, v := numbers(ctx, w), make([]int64, 12)
	block := 4
	if right {
		block = 3
	}
	if w.PE() == 0 {
		data.IBPut(2, v, 6, 4, block, 3) // first
	}
	if w.PE() == 1 {
		data.Range(3, 40).IBPut(2, v, 6, 4, 3, 3) // then
	}
	return w.Barrier(ctx)
}

func columnAndLoad(ctx context.Context, w *pgas.World, right bool) error {
	grid := numbers(ctx, w) // 8 by 8
	if w.PE() == 0 {
		grid.Range(7, 64).IPut(1, []int64{1, 2, 3, 4, 5, 6, 7, 8}, 8, 1, 8) // first
		if right {
			must(w.Quiet(ctx))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, grid.Local()[7+8*3], 4) // then
	}
	return w.Barrier(ctx)
}

func columnAndRow(ctx context.Context, w *pgas.World, right bool) error {
	grid, v := numbers(ctx, w), make([]int64, 8)
	if w.PE() == 0 {
		grid.Range(2, 64).IPut(2, v, 8, 1, 8) // first
	}
	if right {
		must(w.Barrier(ctx))
	}
	if w.PE() == 1 {
		grid.Range(32, 40).Get(2, v) // then
	}
	return w.Barrier(ctx)
}
