package main

// What a collective reads and writes, against an access of a PE that takes no part in it: PEs 0 and 1 call the
// collective, and then PE 2 accesses what PE 0 or 1 has given it. At the end, PE 1 does when its own call has ended.

import "github.com/gopgas/gopgas/pgas"

var collectives = []scenario{
	collective("broadcast", "put to its source", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, many), p.data.Range(many, 2*many)
		return func() { must(pgas.Broadcast(p.ctx, t, dst, src, 0)); p.pass() },
			func() { p.await(); src.At(many-1).Put(0, 1) }
	}),
	collective("broadcast", "get of its destination", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, many), p.data.Range(many, 2*many)
		return func() { must(pgas.Broadcast(p.ctx, t, dst, src, 0)); p.pass() },
			func() { p.await(); dst.At(many - 1).Get(1) }
	}),
	collective("sum of many", "put to its source", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, many), p.data.Range(many, 2*many)
		return func() { must(pgas.SumReduce(p.ctx, t, dst, src)); p.pass() },
			func() { p.await(); src.At(many/2).Put(0, 1) }
	}),
	collective("sum of many", "get of its destination", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, many), p.data.Range(many, 2*many)
		return func() { must(pgas.SumReduce(p.ctx, t, dst, src)); p.pass() },
			func() { p.await(); dst.At(many / 2).Get(1) }
	}),
	collective("sum of one", "put to its source", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, 1), p.data.Range(1, 2)
		return func() { must(pgas.SumReduce(p.ctx, t, dst, src)); p.pass() },
			func() { p.await(); src.At(0).Put(0, 1) }
	}),
	collective("sum of one", "get of its destination", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, 1), p.data.Range(1, 2)
		return func() { must(pgas.SumReduce(p.ctx, t, dst, src)); p.pass() },
			func() { p.await(); dst.At(0).Get(1) }
	}),
	collective("scan", "get of its destination", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, many), p.data.Range(many, 2*many)
		return func() { must(pgas.SumInscan(p.ctx, t, dst, src)); p.pass() },
			func() { p.await(); dst.At(many / 2).Get(1) }
	}),
	collective("collect", "put to its source", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, many), p.data.Range(many, 3*many)
		return func() { must(pgas.FCollect(p.ctx, t, dst, src)); p.pass() },
			func() { p.await(); src.At(many-1).Put(1, 1) }
	}),
	collective("collect", "get of its destination", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, many), p.data.Range(many, 3*many)
		return func() { must(pgas.FCollect(p.ctx, t, dst, src)); p.pass() },
			func() { p.await(); dst.At(2*many - 1).Get(0) }
	}),
	collective("all-to-all", "put to its source", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, 2*many), p.data.Range(2*many, 4*many)
		return func() { must(pgas.AllToAll(p.ctx, t, dst, src)); p.pass() },
			func() { p.await(); src.At(many).Put(0, 1) }
	}),
	collective("all-to-all", "get of its destination", func(p *pe, t *pgas.Team) (first, then func()) {
		src, dst := p.data.Range(0, 2*many), p.data.Range(2*many, 4*many)
		return func() { must(pgas.AllToAll(p.ctx, t, dst, src)); p.pass() },
			func() { p.await(); dst.At(many).Get(0) }
	}),
	{first: "sum of many", then: "sum of many, put to the source of the first PE", run: func(p *pe) (first, then func()) {
		src, dst := p.data.Range(0, many), p.data.Range(many, 2*many)
		return func() { must(pgas.SumReduce(p.ctx, p.Team(), dst, src)); p.pass() },
			func() { must(pgas.SumReduce(p.ctx, p.Team(), dst, src)); p.await(); src.At(many-1).Put(0, 1) }
	}},
	{first: "sum of many", then: "sum of many, get of the destination of the first PE", run: func(p *pe) (first, then func()) {
		src, dst := p.data.Range(0, many), p.data.Range(many, 2*many)
		return func() { must(pgas.SumReduce(p.ctx, p.Team(), dst, src)); p.pass() },
			func() { must(pgas.SumReduce(p.ctx, p.Team(), dst, src)); p.await(); dst.At(many - 1).Get(0) }
	}},
}

// many elements are more than a collective takes along in a message of its own.
const many = 32 << 10

// collective returns the scenario of a collective of PEs 0 and 1.
func collective(first, then string, run func(p *pe, t *pgas.Team) (first, then func())) scenario {
	return scenario{first: first, then: then, pes: 3, run: func(p *pe) (first, then func()) {
		return run(p, p.teamOfFirst(2))
	}}
}
