package racecheck

// What an operation costs under PGAS_CHECK=race, beside its channel, of PEs that share a process.

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

// pair is a job of two PEs whose channels do nothing.
type pair struct {
	pes   [2]*PE
	ctxs  [2]*Context
	chans [2]transport.Channel
	mem   [2][]byte
}

const pairBytes = 1 << 20

func newPair(tb testing.TB) *pair {
	p := new(pair)
	var carrier InProcess
	for pe := range 2 {
		carrier = append(carrier, NewDetector(pe, 2, func(r Report) { tb.Error(r.Text(func(int, uint64) string { return "a word" })) }, func(Unseen) {}))
	}
	for pe := range 2 {
		p.mem[pe] = make([]byte, pairBytes)
		base := uintptr(unsafe.Pointer(&p.mem[pe][0]))
		heap := func(addr uintptr) (uint64, bool) { return uint64(addr - base), addr-base < pairBytes }
		p.pes[pe] = NewPE(pe, len(carrier), carrier, heap, func(Report) {}, func(Unseen) {})
		p.ctxs[pe] = p.pes[pe].NewContext()
		p.chans[pe], _, _ = p.ctxs[pe].Over(idle{}, nil, nil)
	}
	return p
}

func (p *pair) quiet(b *testing.B, pe int) {
	p.ctxs[pe].Quieted(b.Context(), -1, p.ctxs[pe].Issued())
}

func at(off uint64) transport.Word { return transport.Word{Off: off, Bytes: 8} }

// BenchmarkHere is the place of the call alone.
func BenchmarkHere(b *testing.B) {
	p := newPair(b)
	for b.Loop() {
		p.pes[0].Here()
	}
}

// BenchmarkOneWord are atomics of both PEs that do not fetch, on one word.
func BenchmarkOneWord(b *testing.B) {
	p := newPair(b)
	for i := 0; b.Loop(); i++ {
		p.chans[i&1].Post(0, transport.Add, at(64), 1)
	}
}

// BenchmarkManyWords are atomics of both PEs that do not fetch, on random words of tables of different sizes.
func BenchmarkManyWords(b *testing.B) {
	for _, bits := range []int{14, 18} {
		b.Run(fmt.Sprint(bits), func(b *testing.B) {
			p := newPair(b)
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 4 << bits { // most words have had both
				p.chans[i&1].Post(0, transport.Add, at(r.Uint64N(1<<bits)*8), 1)
			}
			for i := 0; b.Loop(); i++ {
				p.chans[i&1].Post(0, transport.Add, at(r.Uint64N(1<<bits)*8), 1)
			}
		})
	}
}

// BenchmarkFetches are fetching atomics of both PEs on random words.
func BenchmarkFetches(b *testing.B) {
	p := newPair(b)
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; b.Loop(); i++ {
		if _, err := p.chans[i&1].Atomic(b.Context(), 0, transport.Add, at(r.Uint64N(1<<14)*8), 1, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPuts are puts to random words, each into its own PE's half, with a quiet now and then.
func BenchmarkPuts(b *testing.B) {
	p := newPair(b)
	r := rand.New(rand.NewPCG(1, 2))
	src := make([]byte, 8)
	for i := 0; b.Loop(); i++ {
		p.chans[i&1].Put(0, r.Uint64N(1<<13)*16+uint64(i&1*8), src)
		if i%1024 < 2 {
			p.quiet(b, i&1)
		}
	}
}

// BenchmarkGets are gets of random words.
func BenchmarkGets(b *testing.B) {
	p := newPair(b)
	r := rand.New(rand.NewPCG(1, 2))
	dst := make([]byte, 8)
	for i := 0; b.Loop(); i++ {
		if err := p.chans[i&1].Get(b.Context(), 0, dst, r.Uint64N(1<<14)*8); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGetsNB are gets that do not wait, of random words into a buffer, with a quiet after each 64.
func BenchmarkGetsNB(b *testing.B) {
	p := newPair(b)
	r := rand.New(rand.NewPCG(1, 2))
	dst := make([]byte, 8*64)
	for i := 0; b.Loop(); i++ {
		p.chans[0].GetNB(0, dst[i%64*8:][:8], r.Uint64N(1<<14)*8)
		if i%64 == 63 {
			p.quiet(b, 0)
		}
	}
}

// BenchmarkSignals are puts with a signal that the other PE waits for, and which it answers.
func BenchmarkSignals(b *testing.B) {
	p := newPair(b)
	src := make([]byte, 64)
	for i := 0; b.Loop(); i++ {
		me, other := i&1, 1-i&1
		p.chans[me].PutSignal(other, 128, src, 64, transport.Set, uint64(i))
		p.pes[other].Looked(b.Context(), 64, 8)
	}
}

// BenchmarkBarriers are puts to the other PE, a quiet, and a barrier.
func BenchmarkBarriers(b *testing.B) {
	p := newPair(b)
	src := make([]byte, 4096)
	for i := 0; b.Loop(); i++ {
		for pe := range 2 {
			p.chans[pe].Put(1-pe, 8192, src)
			p.quiet(b, pe)
			p.pes[pe].Enter(CallKey{Number: uint64(i), Member: int32(pe), Size: 2}, nil)
		}
		for pe := range 2 {
			p.pes[pe].Leave(b.Context(), CallKey{Number: uint64(i), Member: int32(pe), Size: 2}, 0, 1, nil)
		}
	}
}
