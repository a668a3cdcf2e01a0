package programs

// Contexts: each has an order of its own, and completes only what was issued on it.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func contexts() []pair {
	return []pair{
		{2, putsOnTwoContexts}, {2, putAndGetOnContexts}, {2, barrierForContext}, {2, quietOfFirstOnly},
		{2, signalOnOtherContext}, {2, putSignalAcrossContexts}, {2, goroutinesShareBuffer}, {2, sourceOnOtherContext},
		{2, getsOnTwoContexts}, {2, addAndPutOnContexts}, {2, serializedBuffer}, {2, fenceAcrossContexts},
	}
}

func putsOnTwoContexts(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	a, b := seen(w.NewContext()), seen(w.NewContext())
	if w.PE() == 0 {
		data.On(a).Put(1, []int64{7}) // first
		if right {
			must(a.Quiet(ctx))
		}
		data.On(b).Put(1, []int64{8}) // then
		must(b.Quiet(ctx))
		must(a.Quiet(ctx))
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 8)
	}
	return errorOf(a.Close(), b.Close(), w.Barrier(ctx))
}

func putAndGetOnContexts(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	c := seen(w.NewContext(pgas.Private()))
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			must(w.Quiet(ctx))
		}
		want(ctx, data.At(0).On(c).Get(1), 7) // then
	}
	return errorOf(c.Close(), w.Barrier(ctx))
}

// barrierForContext: Barrier completes the default Context only.
func barrierForContext(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	c := seen(w.NewContext(pgas.Private()))
	if w.PE() == 0 {
		data.At(0).On(c).Put(1, 7) // first
		if right {
			must(c.Quiet(ctx))
		}
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
	}
	must(w.Barrier(ctx))
	return c.Close()
}

func quietOfFirstOnly(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	a, b := seen(w.NewContext()), seen(w.NewContext())
	if w.PE() == 0 {
		data.At(0).On(a).Put(1, 7)
		data.At(1).On(b).Put(1, 8) // first
		must(a.Quiet(ctx))
		if right {
			must(b.Quiet(ctx))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[1], 8) // then
	}
	return errorOf(w.Barrier(ctx), a.Close(), b.Close())
}

func signalOnOtherContext(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	c := seen(w.NewContext())
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		data.At(0).On(c).Put(1, 7) // first
		c.Fence()
		if right {
			sig.On(c).Set(1, 1)
		} else {
			sig.Set(1, 1)
		}
		must(c.Quiet(ctx))
	} else {
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	}
	return errorOf(c.Close(), w.Barrier(ctx))
}

// putSignalAcrossContexts counts the puts of two Contexts with one signal.
func putSignalAcrossContexts(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	c := seen(w.NewContext())
	sig, ready := pgas.SignalOf(sigs, 0), pgas.SignalOf(sigs, 1)
	if w.PE() == 0 {
		data.Range(0, 1).PutSignalAdd(1, []int64{7}, sig, 1)
		if !right {
			w.MustQuiet()
			seen(ready.WaitUntil(ctx, pgas.EQ, 1))
		}
		data.Range(1, 2).On(c).PutSignalAdd(1, []int64{8}, sig, 1) // first
		must(c.Quiet(ctx))
	} else {
		sum := uint64(1)
		if right {
			sum = 2
		}
		seen(sig.WaitUntil(ctx, pgas.GE, sum))
		ready.Set(0, 1)
		want(ctx, data.Local()[1], 8) // then
	}
	return errorOf(c.Close(), w.Barrier(ctx))
}

// goroutinesShareBuffer has two goroutines send from one buffer, each on a Context of its own.
func goroutinesShareBuffer(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	var shared [2]int64
	send := func(i int) func(context.Context) error {
		c := seen(w.NewContext(pgas.Private()))
		return func(ctx context.Context) error {
			buf := shared[:1]
			if right {
				buf = shared[i : i+1]
			}
			buf[0] = int64(i)                      // then
			data.Range(i, i+1).On(c).PutNB(1, buf) // first
			return c.Quiet(ctx)
		}
	}
	if w.PE() == 0 {
		must(w.Go(ctx, send(0), send(1)).Wait())
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[1], 1)
	}
	return nil
}

func sourceOnOtherContext(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{7}
	c := seen(w.NewContext())
	if w.PE() == 0 {
		data.On(c).PutNB(1, src) // first
		if right {
			must(c.QuietLocal(ctx))
		} else {
			must(w.Context().QuietLocal(ctx))
		}
		src[0] = 8 // then
		must(c.Quiet(ctx))
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7)
	}
	return c.Close()
}

func getsOnTwoContexts(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 2)
	c := seen(w.NewContext())
	if w.PE() == 0 {
		data.Range(0, 2).On(c).GetNB(1, dst) // first
		if right {
			must(c.Quiet(ctx))
		}
		data.Range(2, 4).GetNB(1, dst) // then
		must(w.Quiet(ctx))
		must(c.Quiet(ctx))
	}
	return errorOf(c.Close(), w.Barrier(ctx))
}

func addAndPutOnContexts(ctx context.Context, w *pgas.World, right bool) error {
	state := words(ctx, w)
	c := seen(w.NewContext())
	if w.PE() == 0 {
		state.At(0).On(c).Put(1, 5) // first
		if right {
			must(c.Quiet(ctx))
		}
		pgas.AtomicOf(state, 0).Add(1, 1) // then
		must(c.Quiet(ctx))
		must(w.Quiet(ctx))
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, pgas.AtomicOf(state, 0).Fetch(1), 6)
	}
	return errorOf(c.Close(), w.Barrier(ctx))
}

// serializedBuffer has a second goroutine reuse the buffer of a Context that both use in turn.
func serializedBuffer(ctx context.Context, w *pgas.World, right bool) error {
	data, buf := numbers(ctx, w), []int64{7}
	c := seen(w.NewContext(pgas.Serialized()))
	if w.PE() == 0 {
		must(w.Go(ctx, func(ctx context.Context) error {
			data.Range(0, 1).On(c).PutNB(1, buf) // first
			if right {
				must(c.QuietLocal(ctx))
			}
			return nil
		}).Wait())
		must(w.Go(ctx, func(ctx context.Context) error {
			buf[0] = 8 // then
			data.Range(1, 2).On(c).PutNB(1, buf)
			return c.Quiet(ctx)
		}).Wait())
	}
	must(w.Barrier(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7)
	}
	return c.Close()
}

// fenceAcrossContexts puts to the same place on two Contexts, with a fence.
func fenceAcrossContexts(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	c := seen(w.NewContext())
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		w.Fence()
		if right {
			data.At(0).Put(1, 8)
		} else {
			data.At(0).On(c).Put(1, 8) // then
		}
		must(c.Quiet(ctx))
		must(w.Quiet(ctx))
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 8)
	}
	return errorOf(c.Close(), w.Barrier(ctx))
}
