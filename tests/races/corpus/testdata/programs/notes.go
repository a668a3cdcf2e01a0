package programs

// Notifications without data, and those of atomics, as flags.

import (
	"context"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

func notes() []pair {
	return []pair{
		{2, noteWithoutFence}, {2, noteOnOtherContext}, {3, noteAtThirdPE}, {2, noteBeforePut}, {2, atomicNoteWithoutFence},
		{3, noteOfOnePEOnly}, {2, noteAfterGetNB}, {3, ringTooEarly}, {2, noteIntoPutNB}, {3, notesAsBarrier},
		{2, largeNoteWithoutFence},
	}
}

func noteWithoutFence(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			w.Fence()
		}
		w.Notify(1, 5)
	} else {
		take(ctx, w, 0, 5)
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func noteOnOtherContext(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	c := seen(w.NewContext())
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			must(w.Quiet(ctx))
		} else {
			w.Fence()
			c.Fence()
		}
		c.Notify(1, 5)
		must(c.Quiet(ctx))
	} else {
		take(ctx, w, 0, 5)
		want(ctx, data.Local()[0], 7) // then
	}
	must(w.Barrier(ctx))
	return c.Close()
}

func noteAtThirdPE(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	switch w.PE() {
	case 0:
		data.Range(0, 2).PutNotify(1, []int64{7, 8}, 4) // first
		if right {
			w.MustQuiet()
		} else {
			w.Fence()
		}
		w.Notify(2, 5)
	case 1:
		take(ctx, w, 0, 4)
	case 2:
		take(ctx, w, 0, 5)
		want(ctx, data.At(1).Get(1), 8) // then
	}
	return w.Barrier(ctx)
}

func noteBeforePut(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		if !right {
			w.Notify(1, 5)
			w.Fence()
		}
		data.At(0).Put(1, 7) // first
		if right {
			w.Fence()
			w.Notify(1, 5)
		}
	} else {
		take(ctx, w, 0, 5)
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func atomicNoteWithoutFence(ctx context.Context, w *pgas.World, right bool) error {
	data, counts := numbers(ctx, w), words(ctx, w)
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			w.Fence()
		}
		pgas.AtomicOf(counts, 0).Notify(5).Add(1, 1)
	} else {
		take(ctx, w, 0, 5)
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

// noteOfOnePEOnly waits for one of its two neighbours and uses what both have sent.
func noteOfOnePEOnly(ctx context.Context, w *pgas.World, right bool) error {
	data, me, n := numbers(ctx, w), w.PE(), w.NPEs()
	left, next := (me+n-1)%n, (me+1)%n
	data.Range(0, 1).PutNotify(next, []int64{int64(me)}, 1) // first
	data.Range(1, 2).PutNotify(left, []int64{int64(me)}, 2) // first
	take(ctx, w, left, 1)
	if right {
		take(ctx, w, next, 2)
	}
	want(ctx, data.Local()[1], int64(next)) // then
	return w.Barrier(ctx)
}

// noteAfterGetNB tells the target that its data has been read, when it may not have been.
func noteAfterGetNB(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), []int64{-1}
	if w.PE() == 0 {
		data.Range(0, 1).GetNB(1, dst) // first
		if right {
			must(w.Quiet(ctx))
		}
		w.Notify(1, 5)
		must(w.Quiet(ctx))
		want(ctx, dst[0], 0)
	} else {
		take(ctx, w, 0, 5)
		data.Local()[0] = 7 // then
	}
	return w.Barrier(ctx)
}

// ringTooEarly passes a number on in a ring before it has come.
func ringTooEarly(ctx context.Context, w *pgas.World, right bool) error {
	data, me, n := numbers(ctx, w), w.PE(), w.NPEs()
	if me == 0 {
		data.Range(0, 1).PutNotify(1, []int64{7}, 5) // first
		take(ctx, w, n-1, 5)
		return w.Barrier(ctx)
	}
	if right {
		take(ctx, w, me-1, 5)
	}
	data.Range(0, 1).PutNotify((me+1)%n, data.Local()[:1], 5) // first and then
	if !right {
		take(ctx, w, me-1, 5)
	}
	return w.Barrier(ctx)
}

func noteIntoPutNB(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{7}
	if w.PE() == 0 {
		data.PutNB(1, src) // first
		w.Fence()
		w.Notify(1, 5)
		if right {
			must(w.Context().QuietLocal(ctx))
		}
		src[0] = 0 // then
	} else {
		take(ctx, w, 0, 5)
		want(ctx, data.Local()[0], 7)
	}
	return w.Barrier(ctx)
}

// notesAsBarrier has every PE tell all others that it is done, without a quiet.
func notesAsBarrier(ctx context.Context, w *pgas.World, right bool) error {
	data, me, n := numbers(ctx, w), w.PE(), w.NPEs()
	data.At(me).Put((me+1)%n, 7) // first
	if right {
		must(w.Quiet(ctx))
	}
	for pe := range n {
		if pe != me {
			w.Notify(pe, 3)
		}
	}
	all := notify.New(w, notify.Any, 3, n-1)
	all.Start()
	seen(all.Wait(ctx))
	want(ctx, data.Local()[(me+n-1)%n], 7) // then
	return w.Barrier(ctx)
}

func largeNoteWithoutFence(ctx context.Context, w *pgas.World, right bool) error {
	const n = 1 << 15 // 256 KiB
	data := many(ctx, w, n)
	if w.PE() == 1 {
		src := make([]int64, n)
		src[n/2] = 7
		data.PutNB(0, src) // first
		if right {
			w.Fence()
		}
		w.Notify(0, 5)
	} else {
		take(ctx, w, 1, 5)
		want(ctx, data.Local()[n/2], 7) // then
	}
	return w.Barrier(ctx)
}
