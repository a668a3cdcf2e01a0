package main

// Two accesses to the same memory, of which one writes, and nothing between them.

import "github.com/gopgas/gopgas/pgas"

var conflicts = []scenario{
	{first: "put", then: "put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.pass() },
			func() { p.await(); p.word.Put(1, 2) }
	}},
	{first: "put", then: "get", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.pass() },
			func() { p.await(); p.word.Get(1) }
	}},
	{first: "get", then: "put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Get(1); p.pass() },
			func() { p.await(); p.word.Put(1, 1) }
	}},
	{first: "put", then: "local load", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.pass() },
			func() { p.await(); p.value = p.data.Local()[0] }
	}},
	{first: "put", then: "local store", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.pass() },
			func() { p.await(); p.data.Local()[0] = 1 }
	}},
	{first: "local load", then: "put", run: func(p *pe) (first, then func()) {
		return func() { p.value = p.data.Local()[0]; p.pass() },
			func() { p.await(); p.word.Put(0, 1) }
	}},
	{first: "local store", then: "put", run: func(p *pe) (first, then func()) {
		return func() { *p.word.Local() = 1; p.pass() },
			func() { p.await(); p.word.Put(0, 1) }
	}},
	{first: "local store", then: "get", run: func(p *pe) (first, then func()) {
		return func() { *p.word.Local() = 1; p.pass() },
			func() { p.await(); p.word.Get(0) }
	}},
	{first: "get", then: "local store", run: func(p *pe) (first, then func()) {
		return func() { p.word.Get(1); p.pass() },
			func() { p.await(); p.data.Local()[0] = 1 }
	}},
	{first: "store through `Ptr`", then: "local load", run: func(p *pe) (first, then func()) {
		return func() { *p.word.Ptr(1) = 1; p.pass() },
			func() { p.await(); p.value = p.data.Local()[0] }
	}},
	{first: "put", then: "load through `Ptr`", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(0, 1); p.pass() },
			func() { p.await(); p.value = *p.word.Ptr(0) }
	}},
	{first: "put of a range", then: "put of a range that overlaps", run: func(p *pe) (first, then func()) {
		return func() { p.data.Range(0, 10).Put(1, p.mine[:10]); p.pass() },
			func() { p.await(); p.data.Range(9, 20).Put(1, p.mine[:11]) }
	}},
	{first: "put of a range", then: "get of a range that overlaps", run: func(p *pe) (first, then func()) {
		return func() { p.data.Range(9, 20).Put(1, p.mine[:11]); p.pass() },
			func() { p.await(); p.data.Range(0, 10).Get(1, p.mine[:10]) }
	}},
	{first: "put of an element", then: "get of half of it", run: func(p *pe) (first, then func()) {
		whole := p.halves()
		return func() { whole.Put(1, [2]int32{1, 1}); p.pass() },
			func() { p.await(); pgas.Field[int32](whole, 4).Get(1) }
	}},
	{first: "put of a generated record", then: "get of its last field", run: func(p *pe) (first, then func()) {
		record := got(AllocRecord(p.ctx, p.World, 2)).At(1)
		return func() { record.Put(1, Record{1, 1}); p.pass() },
			func() { p.await(); record.GetB(1) }
	}},
	{first: "put of a large range", then: "get of the last element", run: func(p *pe) (first, then func()) {
		return func() { p.data.Put(1, p.mine); p.pass() },
			func() { p.await(); p.data.At(elements - 1).Get(1) }
	}},
	{first: "local store", then: "get of a large range around it", run: func(p *pe) (first, then func()) {
		return func() { p.data.Local()[elements/2] = 1; p.pass() },
			func() { p.await(); p.data.Get(0, p.mine) }
	}},
	{first: "put from own copy", then: "put to that copy", run: func(p *pe) (first, then func()) {
		return func() { p.data.Put(1, p.data.Local()[:10]); p.pass() },
			func() { p.await(); p.data.At(9).Put(0, 1) }
	}},
	{first: "strided put", then: "get", run: func(p *pe) (first, then func()) {
		return func() { p.data.IPut(1, p.mine, 3, 1, 10); p.pass() },
			func() { p.await(); p.data.At(27).Get(1) }
	}},
	{first: "strided get", then: "put", run: func(p *pe) (first, then func()) {
		return func() { p.data.IGet(1, p.mine, 1, 3, 10); p.pass() },
			func() { p.await(); p.data.At(27).Put(1, 1) }
	}},
	{first: "`PutNB`", then: "get", run: func(p *pe) (first, then func()) {
		return func() { p.data.PutNB(1, p.mine[:10]); p.pass() },
			func() { p.await(); p.data.At(9).Get(1) }
	}},
	{first: "`GetNB`", then: "put", run: func(p *pe) (first, then func()) {
		return func() { p.data.GetNB(1, p.mine[:10]); p.pass() },
			func() { p.await(); p.data.At(9).Put(1, 1) }
	}},
	{first: "atomic add", then: "put", run: func(p *pe) (first, then func()) {
		return func() { p.cell.Add(1, 1); p.pass() },
			func() { p.await(); p.word.Put(1, 1) }
	}},
	{first: "atomic add", then: "get", run: func(p *pe) (first, then func()) {
		return func() { p.cell.Add(1, 1); p.pass() },
			func() { p.await(); p.word.Get(1) }
	}},
	{first: "atomic set", then: "local load", run: func(p *pe) (first, then func()) {
		return func() { p.cell.Set(1, 1); p.pass() },
			func() { p.await(); p.value = p.data.Local()[0] }
	}},
	{first: "atomic fetch", then: "put", run: func(p *pe) (first, then func()) {
		return func() { p.cell.Fetch(1); p.pass() },
			func() { p.await(); p.word.Put(1, 1) }
	}},
	{first: "put", then: "atomic fetch", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.pass() },
			func() { p.await(); p.cell.Fetch(1) }
	}},
	{first: "get", then: "atomic add", run: func(p *pe) (first, then func()) {
		return func() { p.word.Get(1); p.pass() },
			func() { p.await(); p.cell.Add(1, 1) }
	}},
	{first: "local load", then: "atomic compare-swap", run: func(p *pe) (first, then func()) {
		return func() { p.value = p.data.Local()[0]; p.pass() },
			func() { p.await(); p.cell.CompareSwap(0, 0, 1) }
	}},
	{first: "put", then: "wait for the word put", run: func(p *pe) (first, then func()) {
		return func() { p.word.Put(1, 1); p.pass() },
			func() { p.await(); got(p.cell.WaitUntil(p.ctx, pgas.EQ, 1)) }
	}},
	{first: "put with signal", then: "get, without a wait", run: func(p *pe) (first, then func()) {
		return func() { p.word.PutSignal(1, &p.value, p.sig, 1); p.pass() },
			func() { p.await(); p.word.Get(1) }
	}},
	{first: "notified put", then: "local load, without a wait", run: func(p *pe) (first, then func()) {
		return func() { p.word.PutNotify(1, &p.value, 1); p.pass() },
			func() { p.await(); p.value = p.data.Local()[0] }
	}},
	{first: "notified get", then: "local store, without a wait", run: func(p *pe) (first, then func()) {
		return func() { p.word.GetNotify(1, 1); p.pass() },
			func() { p.await(); p.data.Local()[0] = 1 }
	}},
	{first: "get of 256 KiB by six PEs", then: "put of the last element", pes: 7, run: func(p *pe) (first, then func()) {
		all := p.data.Range(0, 256<<10/8)
		return func() { all.Get(6, p.mine[:256<<10/8]); p.pass() },
			func() { p.await(); p.data.At(256<<10/8-1).Put(6, 1) }
	}},
}
