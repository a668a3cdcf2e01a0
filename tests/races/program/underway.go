package main

// Mistakes about operations that go on after their calls: missing fences and quiets, and memory that is used while an
// operation is under way on it. With PGAS_RACE=plain the race detector does not see them. At the end are the mistakes
// that it never sees. docs/use/races.md says why, and what finds them.

import (
	"slices"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

var underWay = slices.Concat(usedTooEarly, notComplete)

// usedTooEarly are mistakes that PE 0 makes with memory of its own.
var usedTooEarly = []scenario{
	{first: "`GetNB`, load of what it fills, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine) },
			func() { p.value = p.mine[0] }
	}},
	{first: "`GetNB`, store to what it fills, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine) },
			func() { p.mine[9] = 1 }
	}},
	{first: "two `GetNB` into one buffer", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:8]) },
			func() { p.data.GetNB(1, p.mine[4:12]) }
	}},
	{first: "`GetNB`, put from what it fills, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:8]) },
			func() { p.data.Put(1, p.mine[:2]) }
	}},
	{first: "`GetNB`, `PutNB` from what it fills, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:8]) },
			func() { p.data.PutNB(1, p.mine[:2]) }
	}},
	{first: "`PutNB`, `GetNB` into its source", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNB(1, p.mine[:8]) },
			func() { p.data.GetNB(1, p.mine[7:9]) }
	}},
	{first: "`GetNB`, fence, load of what it fills", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:8]) },
			func() { p.Fence(); p.value = p.mine[0] }
	}},
	{first: "`GetNB`, quiet of another context, load of what it fills", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		c := got(p.NewContext())
		return func() { p.data.On(c).GetNB(1, p.mine[:8]) },
			func() { p.MustQuiet(); p.value = p.mine[0] }
	}},
	{first: "`GetNB`, `QuietPE` of another PE, load of what it fills", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:8]) },
			func() { must(p.Context().QuietPE(p.ctx, 0)); p.value = p.mine[0] }
	}},
	{first: "`IGetNB`, load of what it fills, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.IGetNB(1, p.mine, 2, 1, 8) },
			func() { p.value = p.mine[2] }
	}},
	{first: "`GetNotifyNB`, load of what it fills, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNotifyNB(1, p.mine[:8], 1) },
			func() { p.value = p.mine[0] }
	}},
	{first: "`FetchAddNB`, load of the old value, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.flag.FetchAddNB(1, 1, &p.mine[0]) },
			func() { p.value = p.mine[0] }
	}},
	{first: "`PutNB`, store to its source, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNB(1, p.mine) },
			func() { p.mine[0] = 1 }
	}},
	{first: "`PutNB`, store to its source that it is to put", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNB(1, p.mine) },
			func() { p.mine[0] = 2 }
	}},
	{first: "`PutNB`, `PutNB`, `LocalCompletion.Wait` of the first, store to the source of the second", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		var c pgas.LocalCompletion
		return func() { c = p.data.PutNB(1, p.mine[:8]); p.data.PutNB(1, p.mine[8:16]) },
			func() { must(c.Wait(p.ctx)); p.mine[8] = 1 }
	}},
	{first: "`PutNB`, `PutNB`, `LocalCompletion.Wait` of the second, store to the source of the first", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		var c pgas.LocalCompletion
		return func() { p.data.PutNB(1, p.mine[:8]); c = p.data.PutNB(1, p.mine[8:16]) },
			func() { must(c.Wait(p.ctx)); p.mine[0] = 1 }
	}},
	{first: "`PutNotifyNB`, store to its source, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNotifyNB(1, p.mine, 1) },
			func() { p.mine[0] = 1 }
	}},
	{first: "`PutSignalNB`, store to its source, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.PutSignalNB(1, p.mine, p.sig, 1) },
			func() { p.mine[0] = 1 }
	}},
	{first: "`IPutNB`, store to its source, before a quiet", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.IPutNB(1, p.mine, 2, 1, 8) },
			func() { p.mine[0] = 1 }
	}},
}

// notComplete are mistakes that another PE sees.
var notComplete = []scenario{
	{first: "put, atomic set, with no fence between", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},
	{first: "put, atomic add, with no fence between", then: "wait, put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.flag.Add(1, 1) },
			func() { p.awaitFlag(); p.word.Put(1, 2) }
	}},
	{first: "put of 256 KiB, atomic set, with no fence between", then: "wait, get of the last element", run: func(p *pe) (first, then func()) {
		last := p.data.At(256<<10/8 - 1)
		return func() { p.data.Put(1, p.mine[:256<<10/8]); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); last.Get(1) }
	}},
	{first: "strided put, atomic set, with no fence between", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.data.IPut(1, p.mine, 2, 1, 8); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.data.At(14).Get(1) }
	}},
	{first: "put, put with signal, with no fence between", then: "wait for the signal, get of the first data", run: func(p *pe) (first, then func()) {
		second := p.data.At(1)
		return func() { p.word.Put(1, 1); second.PutSignal(1, &p.value, p.sig, 1) },
			func() { got(p.sig.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(1) }
	}},
	{first: "put with signal, atomic set, with no fence between", then: "wait for the word, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.PutSignal(1, &p.value, p.sig, 1); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},
	{first: "put with signal, put with another signal", then: "wait for the second signal, get of the first data", run: func(p *pe) (first, then func()) {
		second, sig := p.data.At(1), p.newSignal()
		return func() { p.word.PutSignal(1, &p.value, p.sig, 1); second.PutSignal(1, &p.value, sig, 1) },
			func() { got(sig.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(1) }
	}},
	{first: "put, notification, with no fence between", then: "wait for the notification, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Notify(1, 1) },
			func() { p.awaitNote(1); p.word.Get(1) }
	}},
	{first: "notified put, atomic set, with no fence between", then: "wait for the word, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.PutNotify(1, &p.value, 1); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},
	{first: "put, fence of another context, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		c := got(p.NewContext())
		return func() { p.word.On(c).Put(1, 1); p.Fence(); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},
	{first: "put, `FencePE` of another PE, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Context().FencePE(0); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},
	{first: "put, fence, atomic set on a third PE", then: "poll that PE, get", pes: 3, run: func(p *pe) (first, then func()) {
		return p.either(func() { p.word.Put(2, 1); p.Fence(); p.flag.Set(1, 1) }, func() {}),
			func() { p.poll(p.flag, 1); p.word.Get(2) }
	}},
	{first: "put, `QuietPE` of another PE, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); must(p.Context().QuietPE(p.ctx, 0)); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},
	{first: "put on one context, quiet of another, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		c := got(p.NewContext())
		return func() { p.word.On(c).Put(1, 1); p.MustQuiet(); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},
	{first: "put on a context of its own, barrier", then: "barrier, get", run: func(p *pe) (first, then func()) {
		c := got(p.NewContext())
		return func() { p.word.On(c).Put(1, 1); must(p.Barrier(p.ctx)) },
			func() { must(p.Barrier(p.ctx)); p.word.Get(1) }
	}},
	{first: "`PutNB`, `QuietLocal`, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNB(1, p.mine[:8]); must(p.Context().QuietLocal(p.ctx)); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},
	{first: "`PutNB`, `LocalCompletion.Wait`, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { must(p.data.PutNB(1, p.mine[:8]).Wait(p.ctx)); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},
	{first: "put, sync, with no quiet before", then: "sync, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); must(p.Sync(p.ctx)) },
			func() { must(p.Sync(p.ctx)); p.word.Get(1) }
	}},
	{first: "put, broadcast from this PE, with no quiet before", then: "broadcast, get", run: func(p *pe) (first, then func()) {
		m := p.words()
		return func() { p.word.Put(1, 1); must(pgas.Broadcast(p.ctx, p.Team(), m.All(), m.All(), 0)) },
			func() { must(pgas.Broadcast(p.ctx, p.Team(), m.All(), m.All(), 0)); p.word.Get(1) }
	}},
	{first: "put, sum, with no quiet before", then: "sum, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); got(pgas.SumValue(p.ctx, p.Team(), 1)) },
			func() { got(pgas.SumValue(p.ctx, p.Team(), 1)); p.word.Get(1) }
	}},
	{first: "`GetNB`, atomic set, with no quiet between", then: "wait, local store", run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:1]); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.data.Local()[0] = 2 }
	}},
	{first: "`GetNB`, atomic set, wait, quiet", then: "wait, local store that it is to get, atomic set", run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:1]); p.flag.Set(1, 1); p.awaitFlag(); p.MustQuiet() },
			func() { p.awaitFlag(); p.data.Local()[0] = 2; p.flag.Set(0, 1) }
	}},
	{first: "put, fetch-add of a word", then: "fetch-add of that word, put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.flag.FetchAdd(0, 1); p.pass() },
			func() { p.await(); p.flag.FetchAdd(0, 1); p.word.Put(1, 2) }
	}},
	{first: "put on a context of its own under `pgas.Lock`", then: "put under it", run: func(p *pe) (first, then func()) {
		l, c := newSpecLock(p), got(p.NewContext())
		return func() { p.in(l, func() { p.word.On(c).Put(1, 1) }); p.pass() },
			func() { p.await(); p.in(l, func() { p.word.Put(1, 2) }) }
	}},
	{first: "put, compare-swap that frees a lock, with no quiet between", then: "compare-swap that takes it, put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.flag.CompareSwap(0, 0, 1); p.pass() },
			func() { p.await(); p.flag.CompareSwap(0, 1, 0); p.word.Put(1, 2) }
	}},
	{first: "put, close of a Go channel, with no quiet between", then: "receive from it, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); close(p.order.closed) },
			func() { <-p.order.closed; p.word.Get(1) }
	}},
}

var unseen = []scenario{
	{first: "put under `locks.SpinRW` as a reader", then: "later, put under it as a reader", run: func(p *pe) (first, then func()) {
		l := got(locks.AllocSpinRW(p.ctx, p.World, locks.SpinOptions{}))
		return func() { p.inShared(l, func() { p.word.Put(1, 1) }); p.pass() },
			func() { p.await(); p.inShared(l, func() { p.word.Put(1, 2) }) }
	}},
	{first: "put before locking and unlocking", then: "later, locking, unlocking, put", run: func(p *pe) (first, then func()) {
		l := newSpecLock(p)
		return func() { p.word.Put(1, 1); p.in(l, func() {}); p.pass() },
			func() { p.await(); p.in(l, func() {}); p.word.Put(1, 2) }
	}},
	{first: "put, quiet, close of a Go channel", then: "receive from it, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.MustQuiet(); close(p.order.closed) },
			func() { <-p.order.closed; p.word.Get(1) }
	}},
}
