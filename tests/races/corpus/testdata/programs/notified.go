package programs

// Notified puts and gets, and what their notifications do not say.

import (
	"context"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

func notified() []pair {
	return []pair{
		{2, notifiedWithoutWait}, {2, notifiedAfterPlainPut}, {2, plainPutAfterNotified}, {2, wrongTag},
		{3, wrongSource}, {3, anySource}, {2, notifiedOnTwoContexts}, {2, notifiedNBSource}, {2, notifiedGetNB},
		{2, notifiedGetAndStore}, {3, notifiedPutAndPut}, {3, twoNotifiedPuts}, {2, notifiedThenSync},
		{2, countTooSmall}, {3, waitAnyForAll}, {2, notifiedTestIgnored}, {2, secondNotifiedRound},
		{2, notifiedAnswerTooEarly}, {2, notifiedSourceInLoop},
	}
}

// take waits for one notification.
func take(ctx context.Context, w *pgas.World, source, tag int) {
	r := notify.New(w, source, tag, 1)
	r.Start()
	seen(r.Wait(ctx))
	r.Free()
}

func notifiedWithoutWait(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.PutNotify(1, []int64{7}, 5) // first
	} else {
		if right {
			take(ctx, w, 0, 5)
		}
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func notifiedAfterPlainPut(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.At(0).Put(1, 7) // first
		if right {
			w.Fence()
		}
		data.Range(1, 2).PutNotify(1, []int64{8}, 5)
	} else {
		take(ctx, w, 0, 5)
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func plainPutAfterNotified(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.Range(0, 2).PutNotify(1, []int64{7, 7}, 5)
		if right {
			data.Range(2, 3).Put(1, []int64{8})
		} else {
			data.Range(1, 2).Put(1, []int64{8}) // first
		}
	} else {
		take(ctx, w, 0, 5)
		use(data.Local()[1]) // then
	}
	return w.Barrier(ctx)
}

func wrongTag(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.Range(0, 1).PutNotify(1, []int64{7}, 1)
		if !right {
			take(ctx, w, 1, 9) // so that the wait below does not find both
		}
		data.Range(1, 2).PutNotify(1, []int64{8}, 2) // first
	} else {
		if right {
			take(ctx, w, 0, 2)
		} else {
			take(ctx, w, 0, 1)
			w.Notify(0, 9)
		}
		want(ctx, data.Local()[1], 8) // then
	}
	return w.Barrier(ctx)
}

func wrongSource(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	switch w.PE() {
	case 1:
		if right {
			take(ctx, w, 0, 5)
		} else {
			take(ctx, w, 2, 5)
		}
		want(ctx, data.Local()[0], 7) // then
	case 0:
		data.Range(0, 1).PutNotify(1, []int64{7}, 5) // first
	case 2:
		data.Range(2, 3).PutNotify(1, []int64{8}, 5)
	}
	return w.Barrier(ctx)
}

func anySource(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() > 0 {
		if w.PE() == 2 && !right {
			take(ctx, w, 0, 9)
		}
		data.Range(w.PE(), w.PE()+1).PutNotify(0, []int64{7}, 5) // first
	} else {
		take(ctx, w, notify.Any, 5)
		if right {
			take(ctx, w, notify.Any, 5)
		} else {
			w.Notify(2, 9)
		}
		want(ctx, data.Local()[2], 7) // then
	}
	return w.Barrier(ctx)
}

// notifiedOnTwoContexts takes the notification of one context as a proof of the other's.
func notifiedOnTwoContexts(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	c := seen(w.NewContext())
	if w.PE() == 0 {
		data.Range(0, 1).PutNotify(1, []int64{7}, 1) // first
		if right {
			data.Range(1, 2).PutNotify(1, []int64{8}, 2)
		} else {
			data.Range(1, 2).On(c).PutNotify(1, []int64{8}, 2)
			must(c.Quiet(ctx))
		}
	} else {
		take(ctx, w, 0, 2)
		want(ctx, data.Local()[0], 7) // then
	}
	must(w.Barrier(ctx))
	return c.Close()
}

func notifiedNBSource(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), []int64{7}
	if w.PE() == 0 {
		sent := data.PutNotifyNB(1, src, 5) // first
		if right {
			must(sent.Wait(ctx))
		}
		src[0] = 8 // then
	} else {
		take(ctx, w, 0, 5)
		want(ctx, data.Local()[0], 7)
	}
	return w.Barrier(ctx)
}

func notifiedGetNB(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), make([]int64, 2)
	data.Local()[1] = 7
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.Range(0, 2).GetNotifyNB(1, dst, 5) // first
		if right {
			must(w.Quiet(ctx))
		}
		want(ctx, dst[1], 7) // then
	} else {
		take(ctx, w, 0, 5)
	}
	return w.Barrier(ctx)
}

func notifiedGetAndStore(ctx context.Context, w *pgas.World, right bool) error {
	data, dst := numbers(ctx, w), []int64{-1}
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.Range(0, 1).GetNotify(1, dst, 5) // first
		want(ctx, dst[0], 0)
	} else {
		if right {
			take(ctx, w, 0, 5)
		}
		data.Local()[0] = 7 // then
	}
	return w.Barrier(ctx)
}

func notifiedPutAndPut(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	switch w.PE() {
	case 0:
		data.Range(0, 4).PutNotify(1, []int64{7, 7, 7, 7}, 5) // first
	case 1:
		take(ctx, w, 0, 5)
	case 2:
		if right {
			data.Range(4, 5).Put(1, []int64{8})
		} else {
			data.Range(3, 4).Put(1, []int64{8}) // then
		}
	}
	return w.Barrier(ctx)
}

func twoNotifiedPuts(ctx context.Context, w *pgas.World, right bool) error {
	data, slot := numbers(ctx, w), 0
	if right {
		slot = w.PE()
	}
	if w.PE() > 0 {
		data.Range(slot, slot+1).PutNotify(0, []int64{7}, 5) // first and then
	} else {
		r := notify.New(w, notify.Any, 5, 2)
		r.Start()
		seen(r.Wait(ctx))
		use(data.Local()[slot])
	}
	return w.Barrier(ctx)
}

func notifiedThenSync(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		data.PutNotify(1, []int64{7}, 5) // first
		if right {
			must(w.Quiet(ctx))
		}
	}
	must(w.Sync(ctx))
	if w.PE() == 1 {
		want(ctx, data.Local()[0], 7) // then
		take(ctx, w, 0, 5)
	}
	return w.Barrier(ctx)
}

func countTooSmall(ctx context.Context, w *pgas.World, right bool) error {
	data, count := numbers(ctx, w), 1
	if right {
		count = 2
	}
	if w.PE() == 0 {
		data.Range(0, 1).PutNotify(1, []int64{7}, 5)
		if !right {
			take(ctx, w, 1, 9)
		}
		data.Range(1, 2).PutNotify(1, []int64{8}, 5) // first
	} else {
		r := notify.New(w, 0, 5, count)
		r.Start()
		seen(r.Wait(ctx))
		w.Notify(0, 9)
		want(ctx, data.Local()[1], 8) // then
	}
	return w.Barrier(ctx)
}

func waitAnyForAll(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() > 0 {
		if w.PE() == 2 && !right {
			take(ctx, w, 0, 9)
		}
		data.Range(w.PE(), w.PE()+1).PutNotify(0, []int64{7}, w.PE()) // first
		return w.Barrier(ctx)
	}
	a, b := notify.New(w, 1, 1, 1), notify.New(w, 2, 2, 1)
	a.Start()
	b.Start()
	if right {
		must(notify.WaitAll(ctx, a, b))
	} else {
		_, _, err := notify.WaitAny(ctx, a, b)
		must(err)
		w.Notify(2, 9)
	}
	want(ctx, data.Local()[2], 7) // then
	return w.Barrier(ctx)
}

func notifiedTestIgnored(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	if w.PE() == 0 {
		take(ctx, w, 1, 9)
		data.PutNotify(1, []int64{7}, 5) // first
	} else {
		r := notify.New(w, 0, 5, 1)
		r.Start()
		_, done := r.Test()
		w.Notify(0, 9)
		for right && !done {
			w.Yield()
			_, done = r.Test()
		}
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func secondNotifiedRound(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	for round := range 3 {
		if w.PE() == 0 {
			if right && round > 0 {
				take(ctx, w, 1, 2)
			}
			data.PutNotify(1, []int64{int64(round)}, 1) // then
		} else {
			take(ctx, w, 0, 1)
			want(ctx, data.Local()[0], int64(round)) // first
			w.Notify(0, 2)
		}
	}
	return w.Barrier(ctx)
}

func notifiedAnswerTooEarly(ctx context.Context, w *pgas.World, right bool) error {
	data := numbers(ctx, w)
	for round := range 3 {
		if w.PE() == 0 {
			data.PutNotify(1, []int64{int64(round)}, 1) // then
			take(ctx, w, 1, 2)
			continue
		}
		take(ctx, w, 0, 1)
		if !right {
			w.Notify(0, 2)
		}
		use(data.Local()[0]) // first
		if right {
			w.Notify(0, 2)
		}
	}
	return w.Barrier(ctx)
}

func notifiedSourceInLoop(ctx context.Context, w *pgas.World, right bool) error {
	data, src := numbers(ctx, w), make([]int64, 4)
	if w.PE() == 0 {
		for i := range 4 {
			src[i/2] = int64(i)                           // then
			data.Range(4*i, 4*i+4).PutNotifyNB(1, src, i) // first
			if right {
				must(w.Context().QuietLocal(ctx))
			}
		}
	} else {
		r := notify.New(w, 0, notify.Any, 4)
		r.Start()
		seen(r.Wait(ctx))
		want(ctx, data.Local()[0], 0)
		want(ctx, data.Local()[4], 1)
	}
	return w.Barrier(ctx)
}
