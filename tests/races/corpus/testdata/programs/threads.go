package programs

// Goroutines of one PE, whose operations are ordered only by what the goroutines do among themselves.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func threads() []pair {
	return []pair{
		{2, goroutinesPut}, {2, goroutineNotJoined}, {2, loadBesideGet}, {2, quietOfGoroutineTooEarly},
		{3, goroutineOfEachPE}, {2, quietByOtherGoroutine}, {2, fenceByOtherGoroutine}, {2, waitingGoroutine},
	}
}

// goroutinesPut has two goroutines put to the same place, each on a Context of its own.
func goroutinesPut(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	a, b := seen(w.NewContext(pgas.Private())), seen(w.NewContext(pgas.Private()))
	if w.PE() == 0 {
		slot := 0
		if right {
			slot = 1
		}
		must(w.Go(ctx, func(ctx context.Context) error {
			data.At(0).On(a).Put(1, 7) // first
			return a.Quiet(ctx)
		}, func(ctx context.Context) error {
			data.At(slot).On(b).Put(1, 8) // then
			return b.Quiet(ctx)
		}).Wait())
	}
	return errorOf(a.Close(), b.Close(), w.Barrier(ctx))
}

// goroutineNotJoined enters the barrier while a goroutine still puts.
func goroutineNotJoined(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	c := seen(w.NewContext())
	group := w.Go(ctx)
	if w.PE() == 0 {
		group.Go(func(ctx context.Context) error {
			data.At(0).On(c).Put(1, 7) // first
			return c.Quiet(ctx)
		})
		if right {
			must(group.Wait())
		}
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	must(group.Wait())
	return errorOf(c.Close(), w.Barrier(ctx))
}

func loadBesideGet(ctx context.Context, w *pgas.World, right bool) error {
	data, buf := numbers(ctx, w), make([]int64, 4)
	data.Local()[2] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		group := w.Go(ctx, func(context.Context) error {
			data.Range(0, 4).Get(1, buf) // first
			return nil
		})
		if right {
			must(group.Wait())
		}
		want(ctx, buf[2], 7) // then
		must(group.Wait())
	}
	return w.Barrier(ctx)
}

// quietOfGoroutineTooEarly completes what has been issued, and then a goroutine issues more.
func quietOfGoroutineTooEarly(ctx context.Context, w *pgas.World, right bool) error {
	data, buf := numbers(ctx, w), make([]int64, 4)
	data.Local()[2] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		if !right {
			must(w.Quiet(ctx))
		}
		must(w.Go(ctx, func(context.Context) error {
			data.Range(0, 4).GetNB(1, buf) // first
			return nil
		}).Wait())
		if right {
			must(w.Quiet(ctx))
		}
		want(ctx, buf[2], 7) // then
	}
	return w.Barrier(ctx)
}

// goroutineOfEachPE has a goroutine of each of two PEs write to a third one.
func goroutineOfEachPE(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() < 2 {
		slot := 5
		if right {
			slot += w.PE()
		}
		must(w.Go(ctx, func(context.Context) error {
			data.At(slot).Put(2, int64(w.PE())) // first and then
			return nil
		}).Wait())
	}
	return w.Barrier(ctx)
}

// quietByOtherGoroutine has one goroutine complete a Context while another still issues on it.
func quietByOtherGoroutine(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{7}
	if w.PE() == 0 {
		put := w.Go(ctx, func(context.Context) error {
			data.PutNB(1, src) // first
			return nil
		})
		if right {
			must(put.Wait())
		}
		must(w.Quiet(ctx))
		src[0] = 8 // then
		must(put.Wait())
	}
	return w.Barrier(ctx)
}

// fenceByOtherGoroutine: the goroutine that signals has a fence on a Context of its own.
func fenceByOtherGoroutine(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	c := seen(w.NewContext())
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		must(w.Go(ctx, func(ctx context.Context) error {
			if right {
				must(w.Quiet(ctx))
			} else {
				c.Fence()
			}
			sig.On(c).Set(1, 1)
			return c.Quiet(ctx)
		}).Wait())
	} else {
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	}
	return errorOf(c.Close(), w.Barrier(ctx))
}

// waitingGoroutine has one goroutine wait for the data, and another use it.
func waitingGoroutine(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		data.PutSignal(1, []int64{7}, sig, 1) // first
	} else {
		waiter := w.Go(ctx, func(ctx context.Context) error {
			_, err := sig.WaitUntil(ctx, pgas.EQ, 1)
			return err
		})
		if right {
			must(waiter.Wait())
		}
		want(ctx, data.Local()[0], 7) // then
		must(waiter.Wait())
	}
	return w.Barrier(ctx)
}
