package programs

// Waits and tests that do not say what the program takes them to say.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

func signal() []pair {
	return []pair{
		{3, wrongSignal}, {2, wrongValue}, {2, trueBefore}, {2, lessThanTrueBefore}, {2, testIgnored},
		{2, fetchIgnored}, {3, sharedSignal}, {3, sumOfTwoSenders}, {3, anyForAll}, {2, signalOfSecondPut},
		{2, putAfterSignal}, {2, noWait}, {2, signalAddThenPut}, {3, signalPastPut}, {2, storeBeforeWait},
	}
}

func wrongSignal(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	a, b := pgas.SignalOf(sigs, 0), pgas.SignalOf(sigs, 1)
	switch w.PE() {
	case 0:
		data.Range(0, 1).PutSignal(1, []int64{7}, a, 1) // first
	case 2:
		data.Range(1, 2).PutSignal(1, []int64{8}, b, 1)
	case 1:
		if right {
			seen(a.WaitUntil(ctx, pgas.EQ, 1))
		} else {
			seen(b.WaitUntil(ctx, pgas.EQ, 1))
		}
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func wrongValue(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig, ready := pgas.SignalOf(sigs, 0), pgas.SignalOf(sigs, 1)
	if w.PE() == 0 {
		data.Range(0, 1).PutSignal(1, []int64{7}, sig, 1)
		if !right {
			seen(ready.WaitUntil(ctx, pgas.EQ, 1)) // so that the wait below does not see both
		}
		data.Range(1, 2).PutSignal(1, []int64{8}, sig, 2) // first
	} else {
		if right {
			seen(sig.WaitUntil(ctx, pgas.GE, 2))
		} else {
			seen(sig.WaitUntil(ctx, pgas.GE, 1))
			ready.Set(0, 1)
		}
		want(ctx, data.Local()[1], 8) // then
	}
	return w.Barrier(ctx)
}

func trueBefore(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig, ready := pgas.SignalOf(sigs, 0), pgas.SignalOf(sigs, 1)
	if w.PE() == 0 {
		if !right {
			seen(ready.WaitUntil(ctx, pgas.EQ, 1))
		}
		data.PutSignal(1, []int64{7}, sig, 1) // first
	} else {
		if right {
			seen(sig.WaitUntil(ctx, pgas.GT, 0))
		} else {
			seen(sig.WaitUntil(ctx, pgas.GE, 0))
			ready.Set(0, 1)
		}
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func lessThanTrueBefore(ctx context.Context, w *pgas.World, right bool) error {
	data, flags := numbers(ctx, w), words(ctx, w)
	flag, ready := pgas.AtomicOf(flags, 0), pgas.AtomicOf(flags, 1)
	if w.PE() == 0 {
		if !right {
			seen(ready.WaitUntil(ctx, pgas.EQ, 1))
		}
		data.At(0).Put(1, 7) // first
		w.Fence()
		flag.Set(1, 2)
	} else {
		if right {
			seen(flag.WaitUntil(ctx, pgas.EQ, 2))
		} else {
			seen(flag.WaitUntil(ctx, pgas.LE, 2))
			ready.Set(0, 1)
		}
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func testIgnored(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig, ready := pgas.SignalOf(sigs, 0), pgas.SignalOf(sigs, 1)
	if w.PE() == 0 {
		seen(ready.WaitUntil(ctx, pgas.EQ, 1))
		data.PutSignal(1, []int64{7}, sig, 1) // first
	} else {
		sig.Test(pgas.EQ, 1)
		ready.Set(0, 1)
		for right && !sig.Test(pgas.EQ, 1) {
			w.Yield()
		}
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func fetchIgnored(ctx context.Context, w *pgas.World, right bool) error {
	data, flags := numbers(ctx, w), words(ctx, w)
	flag, ready := pgas.AtomicOf(flags, 0), pgas.AtomicOf(flags, 1)
	if w.PE() == 0 {
		seen(ready.WaitUntil(ctx, pgas.EQ, 1))
		data.At(0).Put(1, 7) // first
		w.Fence()
		flag.Set(1, 1)
	} else {
		flag.Fetch(1)
		ready.Set(0, 1)
		for right && flag.Fetch(1) != 1 {
			w.Yield()
		}
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

// sharedSignal has two senders that set the same signal.
func sharedSignal(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	a, b, ready := pgas.SignalOf(sigs, 0), pgas.SignalOf(sigs, 1), pgas.SignalOf(sigs, 2)
	if !right {
		a = b
	}
	switch w.PE() {
	case 0:
		if !right {
			seen(ready.WaitUntil(ctx, pgas.EQ, 1)) // so that the wait below sees the other one
		}
		data.Range(0, 1).PutSignal(1, []int64{7}, a, 1) // first
	case 2:
		data.Range(1, 2).PutSignal(1, []int64{8}, b, 1)
	case 1:
		if right {
			seen(a.WaitUntil(ctx, pgas.EQ, 1))
		}
		seen(b.WaitUntil(ctx, pgas.EQ, 1))
		ready.Set(0, 1)
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func sumOfTwoSenders(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig, ready := pgas.SignalOf(sigs, 0), pgas.SignalOf(sigs, 1)
	if w.PE() > 0 {
		if w.PE() == 2 && !right {
			seen(ready.WaitUntil(ctx, pgas.EQ, 1))
		}
		data.Range(w.PE(), w.PE()+1).PutSignalAdd(0, []int64{7}, sig, 1) // first
	} else {
		sum := uint64(1)
		if right {
			sum = 2
		}
		seen(sig.WaitUntil(ctx, pgas.GE, sum))
		ready.Set(2, 1)
		want(ctx, data.Local()[2], 7) // then
	}
	return w.Barrier(ctx)
}

// anyForAll goes on when one of two has come.
func anyForAll(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	set := pgas.SignalsOf(sigs.Range(0, 2)).Until(pgas.EQ, 1)
	ready := pgas.SignalOf(sigs, 3)
	if w.PE() > 0 {
		if w.PE() == 2 && !right {
			seen(ready.WaitUntil(ctx, pgas.EQ, 1))
		}
		data.Range(w.PE(), w.PE()+1).PutSignal(0, []int64{7}, pgas.SignalOf(sigs, w.PE()-1), 1) // first
	} else {
		if right {
			must(set.WaitAll(ctx))
		} else {
			_, _, err := set.WaitAny(ctx)
			must(err)
		}
		ready.Set(2, 1)
		want(ctx, data.Local()[2], 7) // then
	}
	return w.Barrier(ctx)
}

// signalOfSecondPut takes the signal of one put as a proof of an earlier put.
func signalOfSecondPut(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		data.Range(0, 1).Put(1, []int64{7}) // first
		if right {
			w.Fence()
		}
		data.Range(1, 2).PutSignal(1, []int64{8}, sig, 1)
	} else {
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

func putAfterSignal(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		data.Range(0, 1).PutSignal(1, []int64{7}, sig, 1)
		data.At(1).Put(1, 8) // first
		if right {
			w.Fence()
			sig.Set(1, 2)
		}
	} else {
		if right {
			seen(sig.WaitUntil(ctx, pgas.EQ, 2))
		} else {
			seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		}
		want(ctx, data.Local()[1], 8) // then
	}
	return w.Barrier(ctx)
}

func noWait(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		data.At(0).PutSignal(1, &[]int64{7}[0], sig, 1) // first
	} else {
		if right {
			seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		}
		want(ctx, data.Local()[0], 7) // then
	}
	return w.Barrier(ctx)
}

// signalAddThenPut puts to the same place again, behind the signal that hands it over.
func signalAddThenPut(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 0 {
		data.Range(0, 2).PutSignalAdd(1, []int64{7, 7}, sig, 1)
		if right {
			data.At(2).Put(1, 9)
		} else {
			data.At(1).Put(1, 9) // first
		}
	} else {
		seen(sig.WaitUntil(ctx, pgas.GE, 1))
		data.Local()[1]++ // then
	}
	return w.Barrier(ctx)
}

// signalPastPut: PE 2 passes on the word of PE 0, and has data of its own under way to PE 1.
func signalPastPut(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	switch w.PE() {
	case 0:
		data.Range(0, 1).PutSignal(2, []int64{7}, sig, 1)
	case 2:
		data.At(5).Put(1, 5) // first
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		if right {
			w.Fence()
		}
		sig.Set(1, 1)
	case 1:
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[5], 5) // then
	}
	return w.Barrier(ctx)
}

// storeBeforeWait clears the place for the data when the data may be there.
func storeBeforeWait(ctx context.Context, w *pgas.World, right bool) error {
	data, sigs := numbers(ctx, w), signals(ctx, w)
	sig := pgas.SignalOf(sigs, 0)
	if w.PE() == 1 && right {
		data.Local()[0] = -1
	}
	must(w.Barrier(ctx))
	if w.PE() == 0 {
		data.PutSignal(1, []int64{7}, sig, 1) // first
	} else {
		if !right {
			data.Local()[0] = -1 // then
		}
		seen(sig.WaitUntil(ctx, pgas.EQ, 1))
		want(ctx, data.Local()[0], 7)
	}
	return w.Barrier(ctx)
}
