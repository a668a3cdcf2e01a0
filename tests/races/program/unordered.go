package main

// Synchronization that is not enough: it is by another PE, by another word, or by one of the two PEs alone.

import (
	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

var unordered = []scenario{
	{first: "put, fence", then: "get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Fence(); p.pass() },
			func() { p.await(); p.word.Get(1) }
	}},
	{first: "put, quiet", then: "get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.MustQuiet(); p.pass() },
			func() { p.await(); p.word.Get(1) }
	}},
	{first: "put, quiet", then: "quiet, put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.MustQuiet(); p.pass() },
			func() { p.await(); p.MustQuiet(); p.word.Put(1, 1) }
	}},
	{first: "get, quiet", then: "local store", run: func(p *pe) (first, then func()) {
		return func() { p.word.Get(1); p.MustQuiet(); p.pass() },
			func() { p.await(); p.data.Local()[0] = 1 }
	}},
	{first: "put, fence, atomic set", then: "get, without a wait", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Fence(); p.flag.Set(1, 1); p.pass() },
			func() { p.await(); p.word.Get(1) }
	}},
	{first: "put, fence, atomic set", then: "fetch of another word, get", run: func(p *pe) (first, then func()) {
		other := pgas.AtomicsOf(p.flags).At(1)
		return func() { p.word.Put(1, 1); p.Fence(); p.flag.Set(1, 1); p.pass() },
			func() { p.await(); other.Fetch(1); p.word.Get(1) }
	}},
	{first: "put, fence, atomic set", then: "fetch of the word on another PE, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Fence(); p.flag.Set(1, 1); p.pass() },
			func() { p.await(); p.flag.Fetch(0); p.word.Get(1) }
	}},
	{first: "atomic set, put, fence, atomic set of another word", then: "wait for a set without that other word (`Except`), get", run: func(p *pe) (first, then func()) {
		all := pgas.AtomicsOf(p.flags)
		return func() { all.At(4).Set(1, 1); p.word.Put(1, 1); p.Fence(); all.At(5).Set(1, 1); p.pass() },
			func() { p.await(); p.awaitAny(all.Until(pgas.EQ, 1).Except(p.others(4))); p.word.Get(1) }
	}},
	{first: "atomic set, put", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.flag.Set(1, 1); p.word.Put(1, 1); p.pass() },
			func() { p.await(); got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(1) }
	}},
	{first: "put with signal, put", then: "wait for the signal, get", run: func(p *pe) (first, then func()) {
		second := p.data.At(1)
		return func() { p.word.PutSignal(1, &p.value, p.sig, 1); second.Put(1, 1); p.pass() },
			func() { p.await(); got(p.sig.WaitUntil(p.ctx, pgas.EQ, 1)); second.Get(1) }
	}},
	{first: "notified put, put", then: "wait for the notification, get", run: func(p *pe) (first, then func()) {
		second := p.data.At(1)
		return func() { p.word.PutNotify(1, &p.value, 1); second.Put(1, 1); p.pass() },
			func() { p.await(); p.awaitNote(1); second.Get(1) }
	}},
	{first: "put", then: "wait for the signal of a third PE, get", pes: 3, run: func(p *pe) (first, then func()) {
		put := func() { p.word.Put(2, 1); p.pass() }
		signal := func() { p.sig.Set(2, 1); p.pass() }
		return p.either(put, signal),
			func() { p.await(); got(p.sig.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(2) }
	}},
	{first: "put", then: "wait for the notification of a third PE, get", pes: 3, run: func(p *pe) (first, then func()) {
		put := func() { p.word.Put(2, 1); p.pass() }
		note := func() { p.Notify(2, 1); p.pass() }
		return p.either(put, note),
			func() { p.await(); p.awaitNote(1); p.word.Get(2) }
	}},
	{first: "notified put", then: "wait for the notification of a third PE, get", pes: 3, run: func(p *pe) (first, then func()) {
		return p.either(
				func() { p.word.PutNotify(2, &p.value, 1); p.pass() },
				func() { p.Notify(2, 2); p.pass() }),
			func() { p.await(); p.awaitNote(2); p.word.Get(2) }
	}},
	{first: "put, barrier of another team", then: "get", pes: 3, run: func(p *pe) (first, then func()) {
		t, mine := p.teamOfFirst(2), p.data.At(p.PE())
		return func() { mine.Put(2, 1); p.MustQuiet(); must(t.Barrier(p.ctx)); p.pass() },
			func() { p.await(); p.word.Get(2) }
	}},
	{first: "barrier, put, barrier", then: "barrier, get, barrier", run: func(p *pe) (first, then func()) {
		return func() { p.meet(); p.word.Put(1, 1); p.pass(); p.meet() },
			func() { p.meet(); p.await(); p.word.Get(1); p.meet() }
	}},
	{first: "get, wait", then: "atomic add to another word of the PE that waits, put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Get(0); p.pass(); got(p.sig.WaitUntil(p.ctx, pgas.EQ, 1)) },
			func() { p.awaitAsleep(); p.flag.Add(0, 1); p.word.Put(0, 1); p.sig.Set(0, 1) }
	}},
	{first: "put, notification to a third PE", then: "notification to that PE, put", pes: 3, run: func(p *pe) (first, then func()) {
		return p.either(func() { p.word.Put(1, 1); p.Notify(1, 1); p.pass() }, p.pass),
			func() { p.await(); p.Notify(1, 2); p.word.Put(1, 2) }
	}},
	{first: "put, fence, atomic set", then: "get, atomic set back", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Fence(); p.flag.Set(1, 1); p.pass() },
			func() { p.await(); p.word.Get(1); p.flag.Set(0, 1) }
	}},
}

// either returns what PE 0 does, or what PE 1 does. On the last PE, which does neither, it returns what PE 0 does.
func (p *pe) either(pe0, pe1 func()) func() {
	if p.PE() == 1 {
		return pe1
	}
	return pe0
}

// teamOfFirst returns the team of the first n PEs, nil on others.
func (p *pe) teamOfFirst(n int) *pgas.Team { return got(p.Team().SplitStrided(p.ctx, 0, 1, n)) }

// awaitNote waits for one notification with a tag, from whichever PE.
func (p *pe) awaitNote(tag int) {
	r := notify.New(p.World, notify.Any, tag, 1)
	r.Start()
	got(r.Wait(p.ctx))
	r.Free()
}
