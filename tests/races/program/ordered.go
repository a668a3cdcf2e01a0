package main

// Programs that are right: something that PEs of every kind can use, on one host or on many, stands between the two
// accesses. The PEs do their parts at the same time, and wait for each other as a program does.

import (
	"runtime"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

var ordered = []scenario{
	// Flags.
	{first: "put, fence, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Fence(); p.flag.Set(1, 1) },
			func() { got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(1) }
	}},
	{first: "put, fence, atomic add", then: "wait, put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Fence(); p.flag.Add(1, 1) },
			func() { got(p.flag.WaitUntil(p.ctx, pgas.GE, 1)); p.word.Put(1, 2) }
	}},
	{first: "put of a large range, fence, atomic compare-swap", then: "wait, local loads", run: func(p *pe) (first, then func()) {
		return func() { p.data.Put(1, p.mine); p.Fence(); p.flag.CompareSwap(1, 0, 1) },
			func() { got(p.flag.WaitUntil(p.ctx, pgas.NE, 0)); copy(p.mine, p.data.Local()) }
	}},
	{first: "put, quiet, atomic set on a third PE", then: "poll that PE, get", pes: 3, run: func(p *pe) (first, then func()) {
		return p.either(func() { p.word.Put(2, 1); p.MustQuiet(); p.flag.Set(1, 1) }, func() {}),
			func() { p.poll(p.flag, 1); p.word.Get(2) }
	}},
	{first: "put, fence, atomic set", then: "poll by `Test`, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Fence(); p.flag.Set(1, 1) },
			func() { p.untilTrue(func() bool { return p.flag.Test(pgas.EQ, 1) }); p.word.Get(1) }
	}},
	{first: "local store, quiet, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.data.Local()[0] = 1; p.MustQuiet(); p.flag.Set(1, 1) },
			func() { got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(0) }
	}},
	{first: "get, atomic set", then: "wait, local store", run: func(p *pe) (first, then func()) {
		return func() { p.word.Get(1); p.flag.Set(1, 1) },
			func() { got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1)); p.data.Local()[0] = 1 }
	}},
	{first: "`GetNB`, quiet, atomic set", then: "wait, put", run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine); p.MustQuiet(); p.flag.Set(1, 1) },
			func() { got(p.flag.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Put(1, 1) }
	}},
	{first: "put, fence, atomic set", then: "wait for any of a set of words, get", run: func(p *pe) (first, then func()) {
		all := pgas.AtomicsOf(p.flags)
		return func() { p.word.Put(1, 1); p.Fence(); all.At(5).Set(1, 1) },
			func() { p.awaitAny(all.Until(pgas.EQ, 1)); p.word.Get(1) }
	}},
	{first: "put, fence, atomic set", then: "wait for a set without other words (`Except`), get", run: func(p *pe) (first, then func()) {
		all := pgas.AtomicsOf(p.flags)
		return func() { p.word.Put(1, 1); p.Fence(); all.At(5).Set(1, 1) },
			func() { p.awaitAny(all.Until(pgas.EQ, 1).Except(p.others(5))); p.word.Get(1) }
	}},
	{first: "put, fence, put of a `Short`", then: "wait for the `Short`, get", run: func(p *pe) (first, then func()) {
		short := pgas.ShortOf(got(pgas.Alloc[int16](p.ctx, p.World, 2)), 1)
		return func() { p.word.Put(1, 1); p.Fence(); short.Put(1, 1) },
			func() { got(short.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(1) }
	}},

	// Operations that are complete.
	{first: "`GetNB`, quiet, load of what it fills", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:8]); p.MustQuiet() },
			func() { p.value = p.mine[0] }
	}},
	{first: "`FetchAddNB`, quiet, load of the old value", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.flag.FetchAddNB(1, 1, &p.mine[0]); p.MustQuiet() },
			func() { p.value = p.mine[0] }
	}},
	{first: "`PutNB`, `QuietLocal`, store to its source", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNB(1, p.mine[:8]); must(p.Context().QuietLocal(p.ctx)) },
			func() { p.mine[0] = 1 }
	}},
	{first: "`PutNB`, `LocalCompletion.Wait`, store to its source", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { must(p.data.PutNB(1, p.mine[:8]).Wait(p.ctx)) },
			func() { p.mine[0] = 1 }
	}},
	{first: "`PutNB`, `PutNB`, quiet, store to its source", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNB(1, p.mine[:8]); p.data.PutNB(1, p.mine[:8]); p.MustQuiet(); p.mine[0] = 1 },
			func() { p.data.PutNB(1, p.mine[:8]) }
	}},
	{first: "put, get of what was put", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1) },
			func() { p.word.Get(1) }
	}},
	{first: "`GetNB`, put to what it reads", then: "nothing", alone: true, run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:8]) },
			func() { p.word.Put(1, 1) }
	}},
	{first: "put with signal, put to the same bytes, quiet, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.PutSignal(1, &p.value, p.sig, 1); p.word.Put(1, 2); p.MustQuiet(); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},
	{first: "put, atomic add to the same word, quiet, atomic set", then: "wait, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.cell.Add(1, 1); p.MustQuiet(); p.flag.Set(1, 1) },
			func() { p.awaitFlag(); p.word.Get(1) }
	}},

	// Signals.
	{first: "put with signal", then: "wait for the signal, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.PutSignal(1, &p.value, p.sig, 1) },
			func() { got(p.sig.WaitUntil(p.ctx, pgas.EQ, 1)); p.word.Get(1) }
	}},
	{first: "put of a large range with signal", then: "wait for the signal, local loads", run: func(p *pe) (first, then func()) {
		return func() { p.data.PutSignal(1, p.mine, p.sig, 1) },
			func() { got(p.sig.WaitUntil(p.ctx, pgas.EQ, 1)); copy(p.mine, p.data.Local()) }
	}},
	{first: "`PutNB`, fence, put with added signal", then: "wait for the signal, put", run: func(p *pe) (first, then func()) {
		rest := p.data.Range(1, 9)
		return func() { rest.PutNB(1, p.mine[:8]); p.Fence(); p.word.PutSignalAdd(1, &p.value, p.sig, 2) },
			func() { got(p.sig.WaitUntil(p.ctx, pgas.EQ, 2)); rest.Put(1, p.mine[:8]) }
	}},
	{first: "put with signal of two PEs", then: "wait for both, local loads", pes: 3, run: func(p *pe) (first, then func()) {
		mine := p.data.At(p.PE())
		return func() { mine.PutSignalAddNB(2, &p.value, p.sig, 1) },
			func() { got(p.sig.WaitUntil(p.ctx, pgas.EQ, 2)); copy(p.mine, p.data.Local()[:2]) }
	}},
	{first: "put, fence, signal set", then: "poll the signal, local store", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Fence(); p.sig.Set(1, 1) },
			func() { p.untilTrue(func() bool { return p.sig.Fetch() == 1 }); *p.word.Local() = 2 }
	}},

	// Notifications.
	{first: "notified put", then: "wait for the notification, local load", run: func(p *pe) (first, then func()) {
		return func() { p.word.PutNotify(1, &p.value, 1) },
			func() { p.awaitNote(1); p.value = *p.word.Local() }
	}},
	{first: "notified put, notified put", then: "wait for the second notification, get of the first data", run: func(p *pe) (first, then func()) {
		rest := p.data.Range(1, 9)
		return func() { p.word.PutNotify(1, &p.value, 1); rest.PutNotify(1, p.mine[:8], 2) },
			func() { p.awaitNote(2); p.word.Get(1) }
	}},
	{first: "put, fence, notification", then: "probe for it, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Fence(); p.Notify(1, 1) },
			func() { got(notify.ProbeWait(p.ctx, p.World, 0, 1)); p.word.Get(1) }
	}},
	{first: "notified get", then: "wait for the notification, local store", run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNotify(1, p.mine, 1) },
			func() { p.awaitNote(1); p.data.Local()[elements-1] = 1 }
	}},
	{first: "put, fence, notified atomic", then: "wait for the notification, put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.Fence(); p.flag.Notify(1).Add(1, 1) },
			func() { p.awaitNote(1); p.word.Put(1, 2) }
	}},

	// Barriers.
	{first: "put, barrier", then: "barrier, get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); must(p.Barrier(p.ctx)) },
			func() { must(p.Barrier(p.ctx)); p.word.Get(1) }
	}},
	{first: "barrier, put", then: "local store, barrier", run: func(p *pe) (first, then func()) {
		return func() { must(p.Barrier(p.ctx)); p.word.Put(1, 1) },
			func() { p.data.Local()[0] = 1; must(p.Barrier(p.ctx)) }
	}},
	{first: "put, quiet, sync", then: "sync, put", pes: 3, run: func(p *pe) (first, then func()) {
		mine := p.data.At(p.PE())
		return func() { mine.Put(2, 1); p.MustQuiet(); must(p.Sync(p.ctx)) },
			func() { must(p.Sync(p.ctx)); p.data.Put(2, p.mine[:2]) }
	}},
	{first: "put, barrier of a team of both", then: "barrier of that team, local load", run: func(p *pe) (first, then func()) {
		t := p.teamOfFirst(2)
		return func() { p.word.Put(1, 1); must(t.Barrier(p.ctx)) },
			func() { must(t.Barrier(p.ctx)); p.value = *p.word.Local() }
	}},

	// Collectives.
	{first: "put, quiet, broadcast from this PE", then: "broadcast, get", run: func(p *pe) (first, then func()) {
		call := func() { must(pgas.Broadcast(p.ctx, p.Team(), p.flags.Range(1, 2), p.flags.Range(0, 1), 0)) }
		return func() { p.word.Put(1, 1); p.MustQuiet(); call() },
			func() { call(); p.word.Get(1) }
	}},
	{first: "put, quiet, sum", then: "sum, local store", run: func(p *pe) (first, then func()) {
		call := func() { must(pgas.SumReduce(p.ctx, p.Team(), p.flags.Range(1, 2), p.flags.Range(0, 1))) }
		return func() { p.word.Put(1, 1); p.MustQuiet(); call() },
			func() { call(); *p.word.Local() = 2 }
	}},
	{first: "put, quiet, sum of many", then: "sum of many, put", run: func(p *pe) (first, then func()) {
		call := func() {
			must(pgas.SumReduce(p.ctx, p.Team(), p.data.Range(many, 2*many), p.data.Range(2*many, 3*many)))
		}
		return func() { p.word.Put(1, 1); p.MustQuiet(); call() },
			func() { call(); p.word.Put(1, 2) }
	}},
	{first: "put, quiet, scan", then: "scan, get", run: func(p *pe) (first, then func()) {
		call := func() { must(pgas.SumInscan(p.ctx, p.Team(), p.flags.Range(1, 2), p.flags.Range(0, 1))) }
		return func() { p.word.Put(1, 1); p.MustQuiet(); call() },
			func() { call(); p.word.Get(1) }
	}},
	{first: "put, quiet, collect", then: "collect, get", run: func(p *pe) (first, then func()) {
		call := func() { must(pgas.FCollect(p.ctx, p.Team(), p.flags.Range(1, 3), p.flags.Range(0, 1))) }
		return func() { p.word.Put(1, 1); p.MustQuiet(); call() },
			func() { call(); p.word.Get(1) }
	}},
	{first: "put, quiet, all-to-all", then: "all-to-all, get", run: func(p *pe) (first, then func()) {
		call := func() { must(pgas.AllToAll(p.ctx, p.Team(), p.flags.Range(2, 4), p.flags.Range(0, 2))) }
		return func() { p.word.Put(1, 1); p.MustQuiet(); call() },
			func() { call(); p.word.Get(1) }
	}},
	{first: "put, quiet, sum without waiting, wait for it", then: "sum without waiting, wait for it, get", run: func(p *pe) (first, then func()) {
		call := func() *pgas.Request {
			return pgas.SumReduceNB(p.ctx, p.Team(), p.flags.Range(1, 2), p.flags.Range(0, 1))
		}
		return func() { p.word.Put(1, 1); p.MustQuiet(); must(call().Wait(p.ctx)) },
			func() { must(call().Wait(p.ctx)); p.word.Get(1) }
	}},
	{first: "sum without waiting, sum of its destination", then: "sum without waiting, sum of its destination, get of its own sum", run: func(p *pe) (first, then func()) {
		call := func() {
			pgas.SumReduceNB(p.ctx, p.Team(), p.data.Range(many, 2*many), p.data.Range(0, many))
			must(pgas.SumReduce(p.ctx, p.Team(), p.data.Range(0, many), p.data.Range(many, 2*many)))
		}
		return func() { call() },
			func() { call(); p.data.At(many).Get(1) }
	}},
	{first: "local stores, broadcast of them", then: "broadcast, local loads", run: func(p *pe) (first, then func()) {
		call := func() { must(pgas.Broadcast(p.ctx, p.Team(), p.data.Range(many, 2*many), p.data.Range(0, many), 0)) }
		return func() { clear(p.data.Local()[:many]); call() },
			func() { call(); copy(p.mine, p.data.Local()[many:2*many]) }
	}},
	{first: "local stores, sum of them", then: "sum, local loads", run: func(p *pe) (first, then func()) {
		call := func() { must(pgas.SumReduce(p.ctx, p.Team(), p.data.Range(many, 2*many), p.data.Range(0, many))) }
		return func() { clear(p.data.Local()[:many]); call(); clear(p.data.Local()[many : 2*many]) },
			func() { clear(p.data.Local()[:many]); call(); copy(p.mine, p.data.Local()[many:2*many]) }
	}},

	// Memory that is used again.
	{first: "put, free, alloc of the same memory, put", then: "free, alloc of the same memory, local store to another element", run: func(p *pe) (first, then func()) {
		return func() { s := p.reuse(func(s words) { s.At(0).Put(1, 1) }); s.At(0).Put(1, 2); p.freed(s) },
			func() { s := p.reuse(func(words) {}); s.Local()[1] = 1; p.freed(s) }
	}},
	{first: "local store, free, alloc of the same memory", then: "free, alloc of the same memory, put", run: func(p *pe) (first, then func()) {
		return func() { p.freed(p.reuse(func(s words) { s.Local()[0] = 1 })) },
			func() { s := p.reuse(func(words) {}); s.At(0).Put(0, 1); p.freed(s) }
	}},
	{first: "put, realloc", then: "realloc, local load", run: func(p *pe) (first, then func()) {
		return func() { s := p.words(); s.At(0).Put(1, 1); p.freed(got(s.Realloc(p.ctx, 1000))) },
			func() { s := got(p.words().Realloc(p.ctx, 1000)); p.value = s.Local()[0]; p.freed(s) }
	}},

	// No conflict.
	{first: "get", then: "get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Get(1); p.data.Get(1, p.mine) },
			func() { p.word.Get(1); p.cell.Fetch(1) }
	}},
	{first: "atomic set of 8 bytes", then: "atomic set of 4 of them", run: func(p *pe) (first, then func()) {
		whole := p.halves()
		return func() { pgas.FieldAtomic[int64](whole, 0).Set(1, 1); p.pass() },
			func() { p.await(); pgas.FieldAtomic[int32](whole, 4).Set(1, 1) }
	}},
	{first: "atomic add", then: "atomic set", run: func(p *pe) (first, then func()) {
		return func() { p.cell.Add(1, 1) },
			func() { p.cell.Set(1, 1) }
	}},
	{first: "put of a byte", then: "put of the next byte", run: func(p *pe) (first, then func()) {
		bytes := got(pgas.Alloc[byte](p.ctx, p.World, 8))
		return func() { bytes.At(0).Put(1, 1) },
			func() { bytes.At(1).Put(1, 1) }
	}},
	{first: "put of half of an element", then: "put of the other half", run: func(p *pe) (first, then func()) {
		whole := p.halves()
		return func() { pgas.Field[int32](whole, 0).Put(1, 1) },
			func() { pgas.Field[int32](whole, 4).Put(1, 1) }
	}},
	{first: "put of a field of a generated record", then: "put of its other field", run: func(p *pe) (first, then func()) {
		record := got(AllocRecord(p.ctx, p.World, 2)).At(1)
		return func() { record.PutA(1, 1) },
			func() { record.PutB(1, 1) }
	}},
	{first: "put of a range", then: "put of the range behind it", run: func(p *pe) (first, then func()) {
		return func() { p.data.Range(0, 9).Put(1, p.mine[:9]) },
			func() { p.data.Range(9, 20).Put(1, p.mine[:11]) }
	}},
	{first: "strided put", then: "put between its elements", run: func(p *pe) (first, then func()) {
		return func() { p.data.IPut(1, p.mine, 2, 1, 100) },
			func() { p.data.At(51).Put(1, 1) }
	}},
	{first: "put", then: "put to the same element of another PE", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1) },
			func() { p.word.Put(0, 1) }
	}},
}

// words is an allocation of a scenario's own.
type words = pgas.Sym[int64]

func (p *pe) words() words { return got(pgas.Alloc[int64](p.ctx, p.World, 100)) }

// reuse allocates, uses and frees memory, and returns an allocation of the same memory: where freed memory is guarded,
// of other memory, since that is not used again soon.
func (p *pe) reuse(use func(s words)) words {
	s := p.words()
	use(s)
	off := s.All().Offset()
	must(s.Free(p.ctx))
	t := p.words()
	if again := t.All().Offset(); again != off && !p.checked {
		panic("the freed memory was not used again")
	}
	return t
}

func (p *pe) freed(s words) { must(s.Free(p.ctx)) }

// poll fetches a's word on pe until it is 1.
func (p *pe) poll(a pgas.Atomic[int64], pe int) {
	p.untilTrue(func() bool { return a.Fetch(pe) == 1 })
}

func (p *pe) untilTrue(f func() bool) {
	for !f() {
		runtime.Gosched()
	}
}
