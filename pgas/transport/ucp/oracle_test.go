//go:build cgo

package ucp

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/transporttest"
	"github.com/gopgas/gopgas/ucx/engine"
)

// shadow is what one heap must look like: the same operations, done by plain loads and stores.
type shadow []byte

func (s shadow) word(at transport.Word) uint64 {
	if at.Bytes == 4 {
		return uint64(binary.NativeEndian.Uint32(s[at.Off:]))
	}
	return binary.NativeEndian.Uint64(s[at.Off:])
}

func (s shadow) atomic(op transport.Op, at transport.Word, operand, cond uint64) uint64 {
	old := s.word(at)
	v := transporttest.Twin(op, old, operand, cond, at.Bytes)
	if at.Bytes == 4 {
		binary.NativeEndian.PutUint32(s[at.Off:], uint32(v))
	} else {
		binary.NativeEndian.PutUint64(s[at.Off:], v)
	}
	return old
}

// pendingGet is a GetNB that no Quiet has completed: want is what it must bring, but for the bytes that
// have been written since, which it may see or not.
type pendingGet struct {
	off       uint64
	got, want []byte
	written   []bool
}

// pendingFetch is an AtomicNB that no Quiet has completed.
type pendingFetch struct {
	op   transport.Op
	got  []byte
	want uint64
}

// script runs random operations of one channel against the heap of pe, which no other channel writes, and
// their twins against a shadow.
type script struct {
	t      *testing.T
	r      *rand.Rand
	c      transport.Channel
	pe     int
	size   uint64
	shadow shadow
	loose  bool // the transport orders nothing that it need not
	gets   []pendingGet
	src    []byte

	fetches []pendingFetch
}

func (s *script) span() (off, n uint64) {
	sizes := []uint64{1, 3, 4, 8, 8, 8, 17, 64, 65, 500, 4096, 5000, 8192, 8193, 20000, 70000, 300000}
	n = sizes[s.r.IntN(len(sizes))]
	if s.r.IntN(8) > 0 {
		n = min(n, 600)
	}
	off = s.r.Uint64N(s.size - n)
	if n == 8 || n == 4 {
		off &^= n - 1
	}
	return off, n
}

func (s *script) fill(n uint64) []byte {
	for i := range s.src[:n] {
		s.src[i] = byte(s.r.Uint32())
	}
	return s.src[:n]
}

func (s *script) at() transport.Word {
	return transport.Word{Off: s.r.Uint64N(s.size/8) * 8, Bytes: 4 + 4*s.r.IntN(2)}
}

// op is an operation whose outcome is defined to the bit.
func (s *script) op() (transport.Word, transport.Op, uint64) {
	at, op, operand := s.at(), transport.Op(s.r.IntN(int(transport.NumOps))), s.r.Uint64()
	if !transporttest.Orderly(op, s.shadow.word(at), operand, at.Bytes) {
		op = transport.Add
	}
	return at, op, operand
}

func (s *script) step(ctx context.Context) {
	off, n := s.span()
	kind := s.r.IntN(12)
	if s.loose && slices.Contains([]int{3, 5, 6, 10, 11}, kind) {
		s.quiet(ctx) // reads are not ordered behind writes
	} else if s.loose {
		s.c.Fence([]int{s.pe, -1}[s.r.IntN(2)])
	}
	switch kind {
	case 0, 1:
		src := s.fill(n)
		copy(s.shadow[off:], src)
		s.wrote(off, n)
		s.c.Put(s.pe, off, src)
		clear(src) // Put has let go of it
	case 2:
		src := s.fill(n)
		sig, op := transport.Word{Off: s.at().Off, Bytes: 8}, transport.Set
		if s.r.IntN(2) == 0 {
			op = transport.Add
		}
		copy(s.shadow[off:], src)
		s.shadow.atomic(op, sig, n, 0)
		s.wrote(off, n)
		s.wrote(sig.Off, 8)
		s.c.PutSignal(s.pe, off, src, sig.Off, op, n)
		clear(src)
	case 3:
		at, op, operand := s.op()
		cond := s.shadow.word(at) + uint64(s.r.IntN(2))
		want := s.shadow.atomic(op, at, operand, cond)
		s.wrote(at.Off, 8)
		got, err := s.c.Atomic(ctx, s.pe, op, at, operand, cond)
		if err != nil || got != want {
			s.t.Fatalf("atomic %v of %+v: %#x, %v; want %#x", op, at, got, err, want)
		}
	case 4:
		at, op, operand := s.op()
		if op == transport.CompareSwap {
			op = transport.Add
		}
		s.shadow.atomic(op, at, operand, 0)
		s.wrote(at.Off, 8)
		s.c.Post(s.pe, op, at, operand)
	case 8:
		at, op, operand := s.op()
		cond := s.shadow.word(at) + uint64(s.r.IntN(2))
		f := pendingFetch{op: op, got: make([]byte, 8), want: s.shadow.atomic(op, at, operand, cond)}
		s.wrote(at.Off, 8)
		s.c.AtomicNB(s.pe, op, at, operand, cond, f.got[:at.Bytes])
		s.fetches = append(s.fetches, f)
	case 5:
		got := make([]byte, n)
		if err := s.c.Get(ctx, s.pe, got, off); err != nil || !bytes.Equal(got, s.shadow[off:off+n]) {
			s.t.Fatalf("get of %d bytes at %d differs (%v)", n, off, err)
		}
	case 6:
		g := pendingGet{off, make([]byte, n), bytes.Clone(s.shadow[off : off+n]), make([]bool, n)}
		s.c.GetNB(s.pe, g.got, off)
		s.gets = append(s.gets, g)
	case 9:
		s.putBlocks()
	case 10:
		s.getBlocks(ctx)
	case 11:
		s.getBlocksNB()
	case 7:
		if s.r.IntN(4) == 0 {
			s.quiet(ctx)
		} else {
			s.c.Fence(s.pe)
		}
	}
}

func (s *script) quiet(ctx context.Context) {
	if err := s.c.Quiet(ctx, []int{s.pe, -1}[s.r.IntN(2)]); err != nil {
		s.t.Fatal(err)
	}
	for i, g := range s.gets {
		for j := range g.got {
			if g.got[j] != g.want[j] && !g.written[j] {
				s.t.Fatalf("get %d of %d bytes differs at %d", i, len(g.got), j)
			}
		}
	}
	s.gets = s.gets[:0]
	for _, f := range s.fetches {
		if got := binary.NativeEndian.Uint64(f.got); got != f.want {
			s.t.Fatalf("non-blocking atomic %v: %#x, want %#x", f.op, got, f.want)
		}
	}
	s.fetches = nil
}

// wrote notes that n bytes at off are being written while gets may be on their way.
func (s *script) wrote(off, n uint64) {
	for _, g := range s.gets {
		for at := max(off, g.off); at < min(off+n, g.off+uint64(len(g.got))); at++ {
			g.written[at-g.off] = true
		}
	}
}

// ways are how operations can go.
var ways = map[string]Settings{
	"auto":   {},
	"am":     {RMA: engine.AM},
	"native": {RMA: engine.Native},
	"nic":    {NICAtomics: true},
	"all":    {RMA: engine.Native, NICAtomics: true},
}

func TestOracle(t *testing.T) {
	for _, tls := range Lanes {
		for way, settings := range ways {
			for seed := range uint64(seedsOf(way)) {
				t.Run(fmt.Sprint(tls, "/", way, "/", seed), func(t *testing.T) {
					t.Setenv("UCX_TLS", tls)
					testOracle(t, settings, seed)
				})
			}
		}
	}
}

func seedsOf(way string) int {
	if testing.Short() {
		return 1
	}
	if way == "am" || way == "auto" {
		return 4
	}
	return 2
}

func testOracle(t *testing.T, settings Settings, seed uint64) {
	const size = 1 << 20
	steps := 1000
	if testing.Short() {
		steps = 250
	}
	w := NewWorld(t, 2, settings)
	pe := int(1 - seed%2) // 0: the own one, over the network all the same
	s := &script{
		t: t, r: rand.New(rand.NewPCG(seed, 1)), c: w.channel(t, 0, seed > 1), pe: pe, size: size,
		shadow: make(shadow, size), src: make([]byte, size), loose: settings.RMA != engine.AM || settings.NICAtomics,
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	for range steps {
		s.step(ctx)
	}
	s.quiet(ctx)
	if !bytes.Equal(w.Heap(pe)[:size], s.shadow) {
		t.Fatal("the heap differs")
	}
	if err := s.c.Close(); err != nil {
		t.Fatal(err)
	}
}

// Without a network card UCX is opened with its own memory access only if the user asks for it.
func TestChoiceOfWay(t *testing.T) {
	for _, c := range []struct {
		tls      string
		settings Settings
		native   bool
	}{
		{"tcp", Settings{}, false},
		{"tcp", Settings{RMA: engine.Native}, true},
		{"posix,self", Settings{}, false},
		{"posix,self", Settings{RMA: engine.Native}, true},
		{"posix,self", Settings{RMA: engine.AM}, false},
	} {
		t.Run(fmt.Sprint(c.tls, "/", c.settings.RMA), func(t *testing.T) {
			t.Setenv("UCX_TLS", c.tls)
			w := NewWorld(t, 2, c.settings)
			ch := w.channel(t, 0, true)
			const puts = 20
			for range puts {
				ch.Put(1, dataOff, make([]byte, 20000))
			}
			if err := ch.Quiet(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			// A put by active messages is served; one of UCX's own is not, but for its key.
			if native := w.Transports[1].Served() < puts; native != c.native {
				t.Fatalf("%d messages for %d puts", w.Transports[1].Served(), puts)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	if boot.DefaultConnections != engine.DefaultConnections {
		t.Errorf("PGAS_CONNECTIONS is %d unless it is set, and %d in the engine", boot.DefaultConnections, engine.DefaultConnections)
	}
	of := boot.Settings{PeerTimeout: 2 * time.Second, Spin: time.Millisecond, Connections: 3, RMA: boot.RMAAM, AMO: boot.AMONIC}
	for _, c := range []struct {
		settings Settings
		job      boot.Settings
		want     Settings
	}{
		{Settings{}, boot.Settings{}, Settings{}},
		{Settings{}, of, Settings{2 * time.Second, time.Millisecond, 3, engine.AM, true}},
		{Settings{}, boot.Settings{RMA: boot.RMANative}, Settings{RMA: engine.Native}},
		{Settings{time.Second, time.Second, 2, engine.Native, true}, of, Settings{time.Second, time.Second, 2, engine.Native, true}},
	} {
		if got := c.settings.filled(c.job); got != c.want {
			t.Errorf("%+v filled from %+v: %+v", c.settings, c.job, got)
		}
	}
}
