//go:build race && (amd64 || arm64)

package strands_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// benchPEs are the PEs of a benchmark, as one of them sees them: each accesses elements of its own on the next PE.
type benchPEs struct {
	*pgas.World
	ctx  context.Context
	mine pgas.Slice[int64]
	word pgas.Atomic[int64]
	sig  pgas.SignalRef
	note *notify.Request
	buf  []int64
	old  int64
	to   int
}

// newBenchPEs returns what a PE of a benchmark has.
func newBenchPEs(ctx context.Context, w *pgas.World) (*benchPEs, error) {
	elements, err1 := pgas.Alloc[int64](ctx, w, 16*w.NPEs())
	words, err2 := pgas.Alloc[int64](ctx, w, w.NPEs())
	signals, err3 := pgas.Alloc[pgas.Signal](ctx, w, w.NPEs())
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return &benchPEs{
		World: w, ctx: ctx, to: (w.PE() + 1) % w.NPEs(), buf: make([]int64, 8),
		mine: elements.Range(16*w.PE(), 16*w.PE()+16), word: pgas.AtomicOf(words, w.PE()), sig: pgas.SignalOf(signals, w.PE()),
		note: notify.New(w, notify.Any, 1, 1),
	}, nil
}

// operations are what BenchmarkOperation measures.
var operations = []struct {
	name string
	run  func(p *benchPEs) error
}{
	{"Put", func(p *benchPEs) error { p.mine.At(0).Put(p.to, 1); return nil }},
	{"PutNB", func(p *benchPEs) error { p.mine.Range(0, 8).PutNB(p.to, p.buf); return nil }},
	{"PutNB,Quiet", func(p *benchPEs) error { p.mine.Range(0, 8).PutNB(p.to, p.buf); return p.Quiet(p.ctx) }},
	{"Get", func(p *benchPEs) error { p.mine.At(0).Get(p.to); return nil }},
	{"GetNB,Quiet", func(p *benchPEs) error { p.mine.Range(0, 8).GetNB(p.to, p.buf); return p.Quiet(p.ctx) }},
	{"Add", func(p *benchPEs) error { p.word.Add(p.to, 1); return nil }},
	{"Set", func(p *benchPEs) error { p.word.Set(p.to, 1); return nil }},
	{"FetchAdd", func(p *benchPEs) error { p.word.FetchAdd(p.to, 1); return nil }},
	{"FetchAddNB,Quiet", func(p *benchPEs) error { p.word.FetchAddNB(p.to, 1, &p.old); return p.Quiet(p.ctx) }},
	{"PutSignal", func(p *benchPEs) error { p.mine.Range(0, 8).PutSignal(p.to, p.buf, p.sig, 1); return nil }},
	{"PutNotify,Wait", func(p *benchPEs) error {
		p.note.Start()
		p.mine.Range(0, 8).PutNotify(p.to, p.buf, 1)
		_, err := p.note.Wait(p.ctx)
		return err
	}},
	{"Put,Fence,Set", func(p *benchPEs) error { p.mine.At(0).Put(p.to, 1); p.Fence(); p.word.Set(p.to, 1); return nil }},
	{"Put,Quiet", func(p *benchPEs) error { p.mine.At(0).Put(p.to, 1); return p.Quiet(p.ctx) }},
	{"Barrier", func(p *benchPEs) error { return p.Barrier(p.ctx) }},
}

// BenchmarkOperation measures what an operation costs under the race detector: on strands, and as a step of its
// initiator.
func BenchmarkOperation(b *testing.B) {
	for _, op := range operations {
		for _, form := range []string{"strands", "plain"} {
			b.Run(op.name+"/"+form, func(b *testing.B) {
				b.Setenv("PGAS_RACE", form)
				pgastest.BenchGoroutines(b, 2, func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
					p, err := newBenchPEs(ctx, w)
					for err == nil && b.Loop() {
						err = op.run(p)
					}
					return err
				})
			})
		}
	}
}
