package racecheck

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

// TestUnseen: programs that are right, and go over a bound, are told once what is not seen from then on, in one line,
// and nothing is reported. Programs just below the bound are told nothing.
func TestUnseen(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		kind Unseen
		most int
		run  func(p *pair, n int)
	}{
		{UnseenAccesses, mostSegments, func(p *pair, n int) {
			for i := range uint64(n) {
				p.detector(1).Apply(&Record{Access: *accessOf(0, Write), Off: 2 * i * pageBytes, Bytes: 8, Stride: 8, Count: 1})
			}
		}},
		{UnseenWords, mostWords, func(p *pair, n int) {
			for i := range uint64(n) {
				p.detector(1).Apply(&Record{Access: *accessOf(0, AtomicWrite), Off: 8 * i, Bytes: 8, Release: ReleaseWord})
			}
		}},
		{UnseenCalls, mostCalls, func(p *pair, n int) {
			k := CallKey{Home: 1, Size: 2}
			for range n {
				k.Number++
				p.pes[0].Enter(k, nil)
			}
			k.Number, k.Member = 1, 1
			p.pes[1].Leave(ctx, k, 0, 0, nil)
		}},
		{UnseenContexts, mostContexts, func(p *pair, n int) {
			for range n - 1 { // and the one of p
				c := p.pes[0].NewContext()
				ch, _, _ := c.Over(idle{}, nil, nil)
				ch.Put(1, 64, p.mem[0][:8])
				c.Fence(-1)
				ch.Put(1, 64, p.mem[0][:8])
				c.Quieted(ctx, -1, c.Issued())
			}
		}},
		{UnseenRanges, mostSpans, func(p *pair, n int) {
			for i := range uint64(n) {
				p.chans[0].Put(1, 64*i, p.mem[0][:8])
			}
		}},
		{UnseenRanges, mostFetched, func(p *pair, n int) {
			for range n {
				p.chans[0].AtomicNB(1, transport.Add, at(64), 1, 0, nil)
			}
		}},
		{UnseenBuffers, mostBuffers, func(p *pair, n int) {
			for i := range n {
				p.chans[0].GetNB(1, make([]byte, 8), uint64(i%mostSpans)*8)
			}
		}},
		{UnseenNotes, mostNotes, func(p *pair, n int) {
			for i := range uint64(n) {
				p.chans[0].PutNotify(1, 8*(i%mostSpans), p.mem[0][:8], transport.Stamp(i))
			}
		}},
		{UnseenRelease, 0, func(p *pair, n int) { p.pes[0].Acquire(bytes.Repeat([]byte{255}, n)) }},
	} {
		for over := range 2 {
			var lines []string
			p := newPairOf(func(r Report) { t.Errorf("%s", r.Text(func(int, uint64) string { return "a word" })) },
				func(line string) { lines = append(lines, line) })
			for range 1 + over { // the second time it is known
				c.run(p, c.most+over)
			}
			if len(lines) != over || over == 1 && (lines[0] != c.kind.Line() || strings.Contains(lines[0], "\n")) {
				t.Errorf("kind %d, %d of %d: %q", c.kind, c.most+over, c.most, lines)
			}
		}
	}
	told := map[string]bool{}
	for u := range kindsOfUnseen {
		if told[u.Line()] || len(u.Line()) < 60 {
			t.Errorf("kind %d: %q", u, u.Line())
		}
		told[u.Line()] = true
	}
}

// TestUnseenNotesOfManyContexts: contexts beyond the bound count as one, and yet their notes with one key may arrive in
// any order: whichever of them a wait gets, it may be any of them.
func TestUnseenNotesOfManyContexts(t *testing.T) {
	p := newPairOf(func(r Report) { t.Errorf("%s", r.Text(func(int, uint64) string { return "a word" })) }, func(string) {})
	for range mostContexts - 2 {
		p.pes[0].NewContext()
	}
	var chans [2]transport.Channel
	for i := range chans {
		chans[i], _, _ = p.pes[0].NewContext().Over(idle{}, nil, nil)
	}
	for _, ch := range chans {
		ch.PutNotify(1, 512, p.mem[0][:8], 7)
	}
	p.pes[1].Got(context.Background(), transport.Note{Stamp: 7, Bytes: 8, Off: 512}) // the second has arrived first
	p.chans[1].Put(1, 512, p.mem[1][4096:][:8])
}

// TestOrdersAreBounded: notes and calls that no PE waits for, and updates of memory that is not judged, have no more
// bytes than the bound. One kind of line says what is not seen from then on. Each release still comes before what its
// waiter does.
func TestOrdersAreBounded(t *testing.T) {
	const npes, most, n = 64, 2 << 20, 20_000
	for _, c := range []struct {
		kind Unseen
		what func(i uint64, r *Record) Question // makes r the i-th release, and asks for it
	}{
		{UnseenOrders, func(i uint64, r *Record) Question {
			r.Release, r.Key, r.Mixed = ReleaseNote, NoteKey{Stamp: 1, Bytes: 8, Off: 8 * i}, i%2 == 0
			return Question{Note: &r.Key}
		}},
		{UnseenOrders, func(i uint64, r *Record) Question { // one key
			r.Release, r.Key = ReleaseNote, NoteKey{Stamp: 1, Bytes: 8}
			return Question{Note: &r.Key}
		}},
		{UnseenOrders, func(i uint64, r *Record) Question {
			k := CallKey{Slot: int32(i / mostCalls), Number: i%mostCalls + 1, Member: 1, Size: npes}
			r.Release, r.Call = ReleaseCall, k
			return Question{Call: &r.Call, Last: npes - 1}
		}},
		{UnseenAccesses, func(i uint64, r *Record) Question {
			r.Release, r.Off, r.Bytes, r.Stride, r.Count = ReleaseWord, 8*i, 8, 8, 1
			return Question{Word: r.Off, Bytes: 8}
		}},
	} {
		told := map[Unseen]bool{}
		d := NewDetector(0, npes, func(Report) { t.Error("a race") }, func(u Unseen) { told[u] = true })
		d.weight.most = most
		d.Apply(&Record{Release: Exempted, Stride: 8 * n})
		released := func(i uint64) *Record {
			var clock *Clock
			a := Access{Strand: Strand{From: 1, To: -1, Own: i + 1}}
			a.Clock = clock.withOwn(npes-1, i+1)
			return &Record{Access: a}
		}
		for i := range uint64(n) {
			r := released(i)
			c.what(i, r)
			d.Apply(r)
			if i%1000 == 0 {
				if s := d.counted(); s.bytes > most {
					t.Fatalf("kind %d: %d bytes", c.kind, s.bytes)
				}
			}
		}
		if len(told) != 1 || !told[c.kind] {
			t.Errorf("kind %d: told are %v", c.kind, told)
		}
		var known *Clock
		for i := range uint64(n) {
			r := released(i)
			if known = known.Join(d.Answer(c.what(i, r))); !known.has(&r.Strand) || known.component(npes-1).own < i+1 {
				t.Fatalf("kind %d: who has waited for release %d knows nothing of it", c.kind, i)
			}
		}
	}
}

// detector returns the detector of a PE.
func (p *pair) detector(pe int) *Detector { return p.pes[pe].carrier.(InProcess)[pe] }

// newPairOf returns a pair whose Job calls report and missed.
func newPairOf(report func(Report), missed func(line string)) *pair {
	p := new(pair)
	j := NewJob(2, nil, missed)
	j.reporter = NewReporter(report)
	for _, d := range j.detectors {
		d.report = report
		d.weight.most = 1 << 40 // bytes
	}
	for pe := range 2 {
		p.mem[pe] = make([]byte, pairBytes)
		base := uintptr(unsafe.Pointer(&p.mem[pe][0]))
		heap := func(addr uintptr) (uint64, bool) { return uint64(addr - base), addr-base < pairBytes }
		p.pes[pe] = NewPE(pe, 2, j.detectors, heap, report, j.lost)
		p.ctxs[pe] = p.pes[pe].NewContext()
		p.chans[pe], _, _ = p.ctxs[pe].Over(idle{}, nil, nil)
	}
	return p
}
