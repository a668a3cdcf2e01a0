package main

// Programs that are wrong, which the race detector does not report. docs/use/races.md says why, and what finds them.

import (
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

var unseen = []scenario{
	{first: "put, atomic set, with no fence between", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.flag.Set(1, 1) },
			func() { got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(1) }
	}},
	{first: "put, put with signal, with no fence between", then: "wait for the signal, get of the first data", run: func(p *pe) (first, then func()) {
		second := p.data.At(1)
		return func() { p.word.Put(1, 1); second.PutSignal(1, &p.value, p.sig, 1) },
			func() { got(p.sig.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(1) }
	}},
	{first: "put, notification, with no fence between", then: "wait for the notification, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Notify(1, 1) },
			func() { p.awaitNote(1); p.word.Get(1) }
	}},
	{first: "put, fence, atomic set on a third PE", then: "poll that PE, get", pes: 3, run: func(p *pe) (first, then func()) {
		return p.either(func() { p.word.Put(2, 1); p.Fence(); p.flag.Set(1, 1) }, func() {}),
			func() { p.poll(p.flag, 1); p.word.Get(2) }
	}},
	{first: "put, sync, with no quiet before", then: "sync, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); must(p.Sync(p.ctx)) },
			func() { must(p.Sync(p.ctx)); p.word.Get(1) }
	}},
	{first: "put on one context, quiet of another, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		c := got(p.NewContext())
		return func() { p.word.On(c).Put(1, 1); p.MustQuiet(); p.flag.Set(1, 1) },
			func() { got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(1) }
	}},
	{first: "`GetNB`, load of what it fills, before a quiet", then: "nothing", run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine); p.value = p.mine[0] },
			func() {}
	}},
	{first: "`PutNB`, store to its source, before a quiet", then: "nothing", run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNB(1, p.mine); p.mine[0] = 1 },
			func() {}
	}},
	{first: "`GetNB`, atomic set, with no quiet between", then: "wait, local store", run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:1]); p.flag.Set(1, 1) },
			func() { got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1)); p.data.Local()[0] = 2 }
	}},
	{first: "`PutNotifyNB`, store to its source, before a quiet", then: "nothing", run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNotifyNB(1, p.mine, 1); p.mine[0] = 1 },
			func() { p.awaitNote(1) }
	}},
	{first: "`PutSignalNB`, store to its source, before a quiet", then: "nothing", run: func(p *pe) (first, then func()) {
		return func() { p.data.PutSignalNB(1, p.mine, p.sig, 1); p.mine[0] = 1 },
			func() {}
	}},
	{first: "`IPutNB`, store to its source, before a quiet", then: "nothing", run: func(p *pe) (first, then func()) {
		return func() { p.data.IPutNB(1, p.mine, 2, 1, 8); p.mine[0] = 1 },
			func() {}
	}},
	{first: "`PutNB`, store to its source that it is to put", then: "nothing", run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNB(1, p.mine); p.mine[0] = 2 },
			func() {}
	}},
	{first: "`GetNB`, atomic set, wait, quiet", then: "wait, local store that it is to get, atomic set", run: func(p *pe) (first, then func()) {
		return func() {
				p.data.GetNB(1, p.mine[:1])
				p.flag.Set(1, 1)
				got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1))
				p.MustQuiet()
			},
			func() { got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1)); p.data.Local()[0] = 2; p.flag.Set(0, 1) }
	}},
	{first: "put, fetch-add of a word", then: "fetch-add of that word, put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.flag.FetchAdd(0, 1); p.pass() },
			func() { p.await(); p.flag.FetchAdd(0, 1); p.word.Put(1, 2) }
	}},
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
	{first: "put, close of a Go channel", then: "receive from it, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); close(p.order.closed) },
			func() { <-p.order.closed; p.word.Get(1) }
	}},
}
