package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// racer is a PE of TestRacesOfProcesses.
type racer struct {
	*pgas.World
	ctx   context.Context
	data  pgas.Sym[uint64] // its word 0 is put to; the others are free
	flags pgas.Sym[uint64]
	sig   pgas.SignalRef
	lock  pgas.LockRef
	mine  []uint64
	note  int
}

func (p *racer) word() pgas.Ref[uint64] { return p.data.At(0) }

func (p *racer) flag(i int) pgas.Atomic[uint64] { return pgas.AtomicOf(p.flags, i) }

func (p *racer) wait(i int) { must(p.flag(i).WaitUntil(p.ctx, pgas.EQ, 1)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func mustDo(err error) { must(0, err) }

// set is the first n flags, each of which is waited for to be 1.
func (p *racer) set(n int) *pgas.WaitSet[uint64] {
	return pgas.AtomicsOf(p.flags.Range(0, n)).Until(pgas.EQ, 1)
}

// arrived returns when flag i is set, by loads that the detector does not see.
func (p *racer) arrived(i int) {
	for p.flags.Local()[i] == 0 { //pgasvet:ok the wait that orders nothing is the race
		p.Yield()
	}
}

// raceCase is what PEs 0 and 1 do at the same time. Other PEs do nothing.
type raceCase struct {
	name   string
	races  bool
	first  func(p *racer)
	second func(p *racer)
}

var raceCases = []raceCase{
	{"put, put", true,
		func(p *racer) { p.word().Put(1, 1) },
		func(p *racer) { p.word().Put(1, 2) }},
	{"put, get", true,
		func(p *racer) { p.word().Put(1, 1) },
		func(p *racer) { p.word().Get(1) }},
	{"get, put", true,
		func(p *racer) { p.word().Get(1) },
		func(p *racer) { p.word().Put(1, 1) }},
	{"put, atomic", true,
		func(p *racer) { p.word().Put(1, 1) },
		func(p *racer) { pgas.AtomicOf(p.data, 0).Add(1, 1) }},
	{"ranges that overlap", true,
		func(p *racer) { p.data.Range(0, 10).Put(1, p.mine[:10]) },
		func(p *racer) { p.data.Range(9, 20).Put(1, p.mine[:11]) }},
	{"strided", true,
		func(p *racer) { p.data.All().IPut(1, p.mine, 3, 1, 10) },
		func(p *racer) { p.data.At(27).Get(1) }},
	{"missing fence", true,
		func(p *racer) { p.word().Put(1, 1); p.flag(0).Set(1, 1) },
		func(p *racer) { p.wait(0); p.word().Get(1) }},
	{"missing quiet: a fence orders nothing between PEs", true,
		func(p *racer) { p.word().Put(1, 1); p.Fence(); p.flag(0).Set(0, 1) },
		func(p *racer) {
			for p.flag(0).Fetch(0) != 1 {
			}
			p.word().Get(1)
		}},
	{"missing quiet before a sync", true,
		func(p *racer) { p.word().Put(1, 1); mustDo(p.Sync(p.ctx)) },
		func(p *racer) { mustDo(p.Sync(p.ctx)); p.word().Get(1) }},
	{"missing wait", true,
		func(p *racer) { p.word().Put(1, 1); p.Fence(); p.flag(0).Set(1, 1) },
		func(p *racer) { p.word().Get(1) }},
	{"wait for another word", true,
		func(p *racer) { p.word().Put(1, 1); p.Fence(); p.flag(0).Set(1, 1) },
		func(p *racer) { p.flag(3).Set(1, 1); p.wait(3); p.word().Get(1) }},
	{"wait for all words of a set but the one that was set", true,
		func(p *racer) { p.word().Put(1, 1); p.Fence(); p.flag(2).Set(1, 1) },
		func(p *racer) {
			p.flag(0).Set(1, 1)
			p.flag(1).Set(1, 1)
			p.arrived(2)
			mustDo(p.set(3).Except([]bool{false, false, true}).WaitAll(p.ctx))
			p.word().Get(1)
		}},
	{"test for any word of a set, which finds another one", true,
		func(p *racer) { p.word().Put(1, 1); p.Fence(); p.flag(1).Set(1, 1) },
		func(p *racer) {
			p.flag(0).Set(1, 1)
			p.arrived(1)
			for i := -1; i < 0; {
				i, _ = p.set(2).TestAny()
			}
			p.word().Get(1)
		}},
	{"notification before the data", true,
		func(p *racer) { p.data.At(1).PutNotify(1, &p.mine[0], p.note); p.word().Put(1, 1) },
		func(p *racer) { p.awaitNote(p.note); p.word().Get(1) }},
	{"get to a buffer that is put before the quiet", true,
		func(p *racer) { p.data.Range(0, 10).GetNB(1, p.mine[:10]); p.data.Range(20, 30).Put(1, p.mine[:10]) },
		func(p *racer) {}},
	{"two gets into one buffer", true,
		func(p *racer) { p.data.Range(0, 10).GetNB(1, p.mine[:10]); p.data.Range(20, 30).GetNB(1, p.mine[:10]) },
		func(p *racer) {}},

	{"notification of another context", true,
		func(p *racer) {
			c := must(p.NewContext())
			p.word().PutNotify(1, &p.mine[0], p.note)
			p.data.At(1).On(c).PutNotify(1, &p.mine[0], p.note+1)
			mustDo(c.Close())
		},
		func(p *racer) { p.awaitNote(p.note + 1); p.word().Get(1); p.awaitNote(p.note) }},
	{"get of the destination of a sum before its wait", true,
		func(p *racer) { r := p.sumNB(10); p.data.At(10).Get(0); mustDo(r.Wait(p.ctx)) },
		func(p *racer) { mustDo(p.sumNB(10).Wait(p.ctx)) }},
	{"put from the destination of a sum before its wait", true,
		func(p *racer) {
			r := p.sumNB(10)
			p.data.Range(30, 40).Put(1, p.data.Local()[10:20])
			mustDo(r.Wait(p.ctx))
		},
		func(p *racer) { mustDo(p.sumNB(10).Wait(p.ctx)) }},
	{"get into the source of a sum before its wait", true,
		func(p *racer) {
			r := p.sumNB(10)
			p.data.Range(30, 40).Get(1, p.data.Local()[:10])
			mustDo(r.Wait(p.ctx))
		},
		func(p *racer) { mustDo(p.sumNB(10).Wait(p.ctx)) }},
	{"get of the destination of a sum whose test says that it is not complete", true,
		func(p *racer) {
			r := p.sumNB(10)
			must(r.Test())
			p.flag(0).Set(1, 1)
			p.data.At(10).Get(0)
			mustDo(r.Wait(p.ctx))
		},
		func(p *racer) { p.wait(0); mustDo(p.sumNB(10).Wait(p.ctx)) }},
	{"put to the destination of a sum that its PE has not waited for", true,
		func(p *racer) { r := p.sumNB(10); p.flag(0).Set(1, 1); p.wait(1); mustDo(r.Wait(p.ctx)) },
		func(p *racer) {
			r := p.sumNB(10)
			p.wait(0)
			p.data.At(10).Put(0, 1)
			p.MustQuiet()
			p.flag(1).Set(0, 1)
			mustDo(r.Wait(p.ctx))
		}},
	{"get of the destination of the second sum after the wait for the first", true,
		func(p *racer) {
			r, s := p.sumNB(10), p.sumNB(20)
			mustDo(r.Wait(p.ctx))
			p.data.At(20).Get(0)
			mustDo(s.Wait(p.ctx))
		},
		func(p *racer) { p.sumNB(10); mustDo(p.sumNB(20).Wait(p.ctx)) }},

	{"sum without waiting that another PE cannot join before a get of its destination", false,
		func(p *racer) {
			r := p.sumNB(10)
			p.data.At(10).Get(0)
			p.flag(0).Set(1, 1)
			mustDo(r.Wait(p.ctx))
		},
		func(p *racer) { p.wait(0); mustDo(p.sumNB(10).Wait(p.ctx)) }},
	{"sum without waiting, wait, get: the same", false,
		func(p *racer) { mustDo(p.sumNB(10).Wait(p.ctx)); p.data.At(10).Get(0) },
		func(p *racer) { mustDo(p.sumNB(10).Wait(p.ctx)); p.data.At(10).Get(1) }},
	{"sum without waiting, test until it is complete, get", false,
		func(p *racer) {
			for r := p.sumNB(10); !must(r.Test()); {
				p.Yield()
			}
			p.data.Range(0, 20).Get(0, p.mine[:20])
		},
		func(p *racer) { mustDo(p.sumNB(10).Wait(p.ctx)) }},
	{"two sums without waiting, of which the second one uses the first, wait for the second, get", false,
		func(p *racer) {
			p.sumNB(10)
			mustDo(pgas.SumReduceNB(p.ctx, p.Team(), p.data.Range(0, 10), p.data.Range(10, 20)).Wait(p.ctx))
			p.data.Range(0, 20).Get(0, p.mine[:20])
		},
		func(p *racer) {
			p.sumNB(10)
			mustDo(pgas.SumReduceNB(p.ctx, p.Team(), p.data.Range(0, 10), p.data.Range(10, 20)).Wait(p.ctx))
		}},
	{"sum without waiting, sum of its destination, sync, put to it", false,
		func(p *racer) {
			p.sumNB(10)
			mustDo(pgas.SumReduce(p.ctx, p.Team(), p.data.Range(0, 10), p.data.Range(10, 20)))
			mustDo(p.Sync(p.ctx))
			p.data.At(10).Put(1, 1)
		},
		func(p *racer) {
			p.sumNB(10)
			mustDo(pgas.SumReduce(p.ctx, p.Team(), p.data.Range(0, 10), p.data.Range(10, 20)))
			mustDo(p.Sync(p.ctx))
		}},
	{"put, quiet, sum without waiting: sum without waiting, wait, get", false,
		func(p *racer) { p.data.At(40).Put(1, 1); p.MustQuiet(); p.sumNB(10) },
		func(p *racer) { mustDo(p.sumNB(10).Wait(p.ctx)); p.data.At(40).Get(1) }},
	{"sum without waiting of another team, quiet of all else, wait, get", false,
		func(p *racer) {
			t := must(p.Team().SplitStrided(p.ctx, 0, 1, 2))
			r := pgas.SumReduceNB(p.ctx, t, p.data.Range(10, 20), p.data.Range(0, 10))
			mustDo(p.Barrier(p.ctx))
			mustDo(r.Wait(p.ctx))
			p.data.At(10).Get(0)
			mustDo(t.Destroy(p.ctx))
		},
		func(p *racer) {
			t := must(p.Team().SplitStrided(p.ctx, 0, 1, 2))
			r := pgas.SumReduceNB(p.ctx, t, p.data.Range(10, 20), p.data.Range(0, 10))
			mustDo(p.Barrier(p.ctx))
			mustDo(r.Wait(p.ctx))
			mustDo(t.Destroy(p.ctx))
		}},
	{"put, fence, notification: probe for it, get", false,
		func(p *racer) { p.word().Put(1, 1); p.Fence(); p.data.At(1).PutNotify(1, &p.mine[0], p.note) },
		func(p *racer) {
			must(notify.ProbeWait(p.ctx, p.World, 0, p.note))
			p.word().Get(1)
			p.awaitNote(p.note)
		}},
	{"put, fence, set: wait, get", false,
		func(p *racer) { p.word().Put(1, 1); p.Fence(); p.flag(0).Set(1, 1) },
		func(p *racer) { p.wait(0); p.word().Get(1) }},
	{"put, quiet, set of a third word: poll, get", false,
		func(p *racer) { p.word().Put(1, 1); p.MustQuiet(); p.flag(0).Set(0, 1) },
		func(p *racer) {
			for p.flag(0).Fetch(0) != 1 {
			}
			p.word().Get(1)
		}},
	{"put, barrier: barrier, put", false,
		func(p *racer) { p.word().Put(1, 1); mustDo(p.Barrier(p.ctx)) },
		func(p *racer) { mustDo(p.Barrier(p.ctx)); p.word().Put(1, 2) }},
	{"put with signal: wait, get", false,
		func(p *racer) { p.data.Range(0, 20).PutSignal(1, p.mine[:20], p.sig, 1) },
		func(p *racer) { must(p.sig.WaitUntil(p.ctx, pgas.EQ, 1)); p.data.At(10).Get(1) }},
	{"notified put: wait, put", false,
		func(p *racer) { p.data.Range(0, 20).PutNotify(1, p.mine[:20], p.note) },
		func(p *racer) { p.awaitNote(p.note); p.data.At(10).Put(1, 3) }},
	{"put, fence, set: test for some of a set without another word, get", false,
		func(p *racer) { p.word().Put(1, 1); p.Fence(); p.flag(1).Set(1, 1) },
		func(p *racer) {
			set := p.set(3).Except([]bool{true, false, false})
			for len(set.TestSome(nil)) == 0 {
			}
			p.word().Get(1)
		}},
	{"counters", false,
		func(p *racer) { p.flag(0).FetchAdd(1, 1); p.flag(0).Add(1, 1) },
		func(p *racer) { p.flag(0).FetchAdd(1, 1); p.flag(0).Add(0, 1) }},
	{"a lock", false,
		func(p *racer) { p.locked(func() { p.word().Put(1, p.word().Get(1)+1) }) },
		func(p *racer) { p.locked(func() { p.word().Put(1, p.word().Get(1)+1) }) }},
	{"a context of its own, quieted", false,
		func(p *racer) {
			c := must(p.NewContext())
			p.word().On(c).Put(1, 1)
			mustDo(c.Quiet(p.ctx))
			p.flag(0).Set(1, 1)
			mustDo(c.Close())
		},
		func(p *racer) { p.wait(0); p.word().Get(1) }},
	{"reads", false,
		func(p *racer) { p.data.All().Get(1, p.mine); p.data.All().Get(0, p.mine) },
		func(p *racer) { p.data.All().Get(1, p.mine); p.data.All().Get(0, p.mine) }},
	{"neighbours", false,
		func(p *racer) { p.data.Range(0, 10).Put(1, p.mine[:10]) },
		func(p *racer) { p.data.Range(10, 20).Put(1, p.mine[:10]) }},
}

func (p *racer) locked(f func()) {
	mustDo(p.lock.Lock(p.ctx))
	f()
	p.MustQuiet()
	mustDo(p.lock.Unlock())
}

// sumNB begins a sum of the first words of data into those from dst on.
func (p *racer) sumNB(dst int) *pgas.Request {
	return pgas.SumReduceNB(p.ctx, p.Team(), p.data.Range(dst, dst+10), p.data.Range(0, 10))
}

// awaitNote takes a note.
func (p *racer) awaitNote(tag int) {
	r := notify.New(p.World, notify.Any, tag, 1)
	defer r.Free()
	r.Start()
	must(r.Wait(p.ctx))
}

// play has PEs 0 and 1 play a case on memory of its own, and returns what is reported in this process.
func (p *racer) play(c raceCase, errors *os.File) (reports string, err error) {
	p.data, p.flags = must(pgas.Alloc[uint64](p.ctx, p.World, 64)), must(pgas.Alloc[uint64](p.ctx, p.World, 8))
	p.sig = pgas.SignalOf(must(pgas.Alloc[pgas.Signal](p.ctx, p.World, 1)), 0)
	p.lock = pgas.LockOf(must(pgas.Alloc[pgas.Lock](p.ctx, p.World, 1)), 0)
	p.note += 2
	if p.PE() == 0 {
		c.first(p)
	} else {
		c.second(p)
	}
	mustDo(p.Barrier(p.ctx)) // everything is at the detectors
	mustDo(p.Barrier(p.ctx))
	text, err := io.ReadAll(errors)
	return string(text), err
}

// accessLine is an access in a report, with its line.
var accessLine = regexp.MustCompile(`of PE [01] at \S*races_test.go:\d+`)

// TestRacesOfProcesses: under PGAS_CHECK=race PEs that are processes, on one host and on two, report what races, each
// time, with the lines of both accesses, and nothing else.
//
//ci:ucx
func TestRacesOfProcesses(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("races-%d-%d", os.Getpid(), w.PE()))
		out, err := os.Create(path)
		if err != nil {
			return err
		}
		defer os.Remove(path)
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func(was *os.File) { os.Stderr = was }(os.Stderr)
		os.Stderr = out // of this process, which is a PE alone
		p := &racer{World: w, ctx: ctx, mine: make([]uint64, 64)}
		counts, sums := must(pgas.Alloc[uint64](ctx, w, 1)), must(pgas.Alloc[uint64](ctx, w, 1))
		var wrong []string
		for _, c := range raceCases {
			reports, err := p.play(c, in)
			if err != nil {
				return err
			}
			for line := range strings.Lines(reports) {
				if len(accessLine.FindAllString(line, -1)) != 2 || !strings.Contains(line, ": race on ") {
					wrong = append(wrong, c.name+": "+line)
				}
			}
			counts.Local()[0] = uint64(strings.Count(reports, "\n"))
			mustDo(pgas.SumReduce(ctx, w.Team(), sums.All(), counts.All()))
			if n := sums.Local()[0]; (n > 0) != c.races {
				wrong = append(wrong, fmt.Sprintf("%s: %d reports: %s", c.name, n, reports))
			}
		}
		if wrong != nil {
			return errors.New(strings.Join(wrong, "\n"))
		}
		return nil
	}
	pgastest.RunProcesses(t, 2, body, "PGAS_CHECK=race", "PGAS_RACE_EXIT=0")
	pgastest.RunHosts(t, 2, 2, body, "PGAS_CHECK=race", "PGAS_RACE_EXIT=0")
}
