package pgastest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
	"github.com/gopgas/gopgas/pgas/transport/transporttest"
)

// lateRig returns a network with a seed, of npes hosts of one PE each. It waits for no PE to look: there are no
// programs.
func lateRig(t *testing.T, npes int, heap, seed uint64) (*lateNetwork, []transport.Transport) {
	t.Helper()
	net := &lateNetwork{seed: seed}
	var pes []transport.Transport
	for pe := range npes {
		seg := boot.NewSegment(1, 1, heap)
		seg.Header.First, seg.Header.NPEs = uint32(pe), uint32(npes)
		net.hosts = append(net.hosts, seg)
		pes = append(pes, &lateTransport{net: net, me: pe})
	}
	net.open()
	return net, pes
}

// TestLateIsATransport: late is not wrong, whatever is drawn.
func TestLateIsATransport(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { lateIsATransport(t, seed) })
	}
}

func lateIsATransport(t *testing.T, seed uint64) {
	transporttest.Run(t, func(t *testing.T, npes int) *transporttest.Rig {
		net, pes := lateRig(t, npes, transporttest.HeapBytes, seed)
		r := &transporttest.Rig{PEs: pes, Words: shm.Load}
		for _, seg := range net.hosts {
			r.Heaps = append(r.Heaps, seg.Heap(0))
		}
		r.Take = func(pe int, n *transport.Note) bool {
			ring := net.notes[pe].ring
			if ring.Overflowed() {
				pes[pe].(*lateTransport).Refill()
			}
			return ring.TakeOne(n)
		}
		return r
	})
}

// TestLateRules: what arrives when. Each step issues operations of PE 0 on words of PE 1; then come the
// words, as PE 1 would find them.
func TestLateRules(t *testing.T) {
	ctx := t.Context()
	word := func(i uint64) transport.Word { return transport.Word{Off: 8 * i, Bytes: 8} }
	bytes := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	quiet := func(ch transport.Channel, pe int) {
		if err := ch.Quiet(ctx, pe); err != nil {
			t.Fatal(err)
		}
	}
	wait := func(pe1 transport.Transport, at transport.Word, v uint64) {
		if !pe1.(transport.Progresser).WaitWord(at, transport.EQ, v, false, 0) {
			t.Fatalf("the word at %d does not become %d", at.Off, v)
		}
	}
	for _, c := range []struct {
		name string
		run  func(a, b transport.Channel, pe1 transport.Transport)
		want [3]uint64
	}{
		{"a put is held", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
		}, [3]uint64{}},
		{"a quiet lets it arrive", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
			quiet(a, -1)
		}, [3]uint64{1}},
		{"of its own channel only", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
			b.Post(1, transport.Add, word(2), 2)
			quiet(b, 1)
		}, [3]uint64{0, 2}},
		{"and its own PE only", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
			a.Put(0, 8, bytes(1))
			quiet(a, 0)
		}, [3]uint64{}},
		{"a signal overtakes a put", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
			a.PutSignal(1, 16, bytes(2), 24, transport.Set, 3)
			wait(pe1, word(3), 3)
		}, [3]uint64{0, 2, 3}},
		{"not past a fence", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
			a.Fence(1)
			a.PutSignal(1, 16, bytes(2), 24, transport.Set, 3)
			wait(pe1, word(3), 3)
		}, [3]uint64{1, 2, 3}},
		{"of another channel", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
			b.Fence(1)
			b.PutSignal(1, 16, bytes(2), 24, transport.Set, 3)
			wait(pe1, word(3), 3)
		}, [3]uint64{0, 2, 3}},
		{"a fence to all PEs", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
			a.Fence(-1)
			a.Post(1, transport.Set, word(3), 3)
			wait(pe1, word(3), 3)
		}, [3]uint64{1, 0, 3}},
		{"the newer put comes first", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
			a.Put(1, 16, bytes(2))
			pe1.(transport.Progresser).Fault(t.Context())
		}, [3]uint64{0, 2}},
		{"not to the same bytes", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
			a.Put(1, 8, append(bytes(2), bytes(3)...))
			quiet(a, -1)
		}, [3]uint64{2, 3}},
		{"a get finds what its own channel has put", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 8, bytes(1))
			got := make([]byte, 8)
			if err := a.Get(ctx, 1, got, 8); err != nil {
				t.Fatal(err)
			}
			a.Post(1, transport.Set, word(2), 10+binary.LittleEndian.Uint64(got))
			quiet(a, -1)
		}, [3]uint64{1, 11}},
		{"and passes the rest, as it passes what others have put", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Put(1, 16, bytes(2))
			b.Put(1, 8, bytes(1))
			got := make([]byte, 8)
			if err := a.Get(ctx, 1, got, 8); err != nil {
				t.Fatal(err)
			}
			b.Post(1, transport.Set, word(3), 10+binary.LittleEndian.Uint64(got))
			quiet(b, -1)
		}, [3]uint64{1, 0, 10}},
		{"a non-blocking get finds what its own channel had put, and not what it put later", func(a, b transport.Channel, pe1 transport.Transport) {
			got := make([]byte, 8)
			a.Put(1, 8, bytes(1))
			a.GetNB(1, got, 8)
			a.Put(1, 8, bytes(2))
			quiet(a, -1)
			a.Post(1, transport.Set, word(2), 10+binary.LittleEndian.Uint64(got))
			quiet(a, -1)
		}, [3]uint64{2, 11}},
		{"a non-blocking get is filled by the quiet", func(a, b transport.Channel, pe1 transport.Transport) {
			got := bytes(7)
			a.GetNB(1, got, 8)
			b.Put(1, 8, bytes(1))
			quiet(b, -1)
			early := binary.LittleEndian.Uint64(got)
			quiet(a, -1)
			b.Post(1, transport.Set, word(2), 10*early+binary.LittleEndian.Uint64(got))
			quiet(b, -1)
		}, [3]uint64{1, 71}},
		{"a network holds so much", func(a, b transport.Channel, pe1 transport.Transport) {
			for range lateCapacity - 1 {
				a.Post(1, transport.Add, word(1), 1)
			}
			a.Put(1, 16, bytes(2)) // the newest when there is no room for the next
			a.Put(1, 24, bytes(3))
		}, [3]uint64{0, 2, 0}},
		{"so is the value of an atomic", func(a, b transport.Channel, pe1 transport.Transport) {
			got := bytes(7)
			a.AtomicNB(1, transport.Add, word(1), 1, 0, got)
			pe1.(transport.Progresser).Fault(t.Context())
			early := binary.LittleEndian.Uint64(got)
			quiet(a, -1)
			b.Post(1, transport.Set, word(2), 10*early+binary.LittleEndian.Uint64(got))
			quiet(b, -1)
		}, [3]uint64{1, 70}},
		{"a quiet of another PE fills nothing", func(a, b transport.Channel, pe1 transport.Transport) {
			got := [2][]byte{bytes(7), bytes(7)}
			b.Post(1, transport.Set, word(1), 1)
			quiet(b, -1)
			a.GetNB(1, got[0], 8)
			a.AtomicNB(1, transport.Fetch, word(1), 0, 0, got[1])
			quiet(a, 0)
			early := binary.LittleEndian.Uint64(got[0]) + binary.LittleEndian.Uint64(got[1])
			quiet(a, 1)
			b.Post(1, transport.Set, word(2), early)
			b.Post(1, transport.Set, word(3), binary.LittleEndian.Uint64(got[0])+binary.LittleEndian.Uint64(got[1]))
			quiet(b, -1)
		}, [3]uint64{1, 14, 2}},
		{"a source put without a copy is read late", func(a, b transport.Channel, pe1 transport.Transport) {
			putter, src := a.(transport.ZeroCopyPutter), [2][]byte{bytes(1), bytes(2)}
			first, second := putter.PutZcopy(1, 8, src[0]), putter.PutZcopy(1, 16, src[1])
			src[0][0] = 9 // a bug of the caller's, which shows
			if putter.Released(1, first) || putter.Released(1, second) {
				t.Error("a source was given back before it was read")
			}
			pe1.(transport.Progresser).Fault(t.Context())
			if putter.Released(1, first) || !putter.Released(1, second) {
				t.Error("the source that was read last is not the one that is given back")
			}
			if err := putter.AwaitReleased(ctx, 1, first); err != nil || !putter.Released(1, first) {
				t.Errorf("a source is kept: %v", err)
			}
			src[0][0] = 5 // the put has read it, and has not arrived
			b.Post(1, transport.Set, word(3), 5)
			quiet(b, -1)
		}, [3]uint64{0, 2, 5}},
		{"a source that was waited for is what arrives", func(a, b transport.Channel, pe1 transport.Transport) {
			src := bytes(1)
			a.(transport.ZeroCopyPutter).PutZcopy(1, 8, src)
			if err := a.(transport.ZeroCopyPutter).AwaitReleased(ctx, -1, 0); err != nil {
				t.Error(err)
			}
			src[0] = 9
			quiet(a, -1)
		}, [3]uint64{1}},
		{"the newest get fills first", func(a, b transport.Channel, pe1 transport.Transport) {
			b.Put(1, 8, bytes(1))
			b.Put(1, 16, bytes(2))
			quiet(b, -1)
			got := bytes(7)
			a.GetNB(1, got, 8)
			a.GetNB(1, got, 16)
			quiet(a, -1)
			b.Post(1, transport.Set, word(3), binary.LittleEndian.Uint64(got))
			quiet(b, -1)
		}, [3]uint64{1, 2, 1}},
		{"so are the sources of a put with a signal and of blocks", func(a, b transport.Channel, pe1 transport.Transport) {
			putter, one, blocks := a.(transport.ZeroCopyPutter), bytes(1), append(append(bytes(2), bytes(0)...), bytes(3)...)
			signalled := putter.PutSignalZcopy(1, 24, one, 8, transport.Set, 4)
			strided := putter.PutStridedZcopy(1, 16, blocks, transport.Strided{BlockBytes: 8, Count: 2, LocalStride: 16, RemoteStride: 16})
			one[0], blocks[0], blocks[16] = 9, 8, 7 // bugs of the caller, which show
			if putter.Released(1, signalled) || putter.Released(1, strided) {
				t.Error("a source was given back before it was read")
			}
			quiet(a, -1)
			if !putter.Released(1, signalled) || !putter.Released(1, strided) {
				t.Error("a source is kept")
			}
		}, [3]uint64{4, 8, 9}},
		{"a fetching atomic overtakes", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Post(1, transport.Add, word(1), 1)
			if _, err := a.Atomic(ctx, 1, transport.Add, word(2), 5, 0); err != nil {
				t.Fatal(err)
			}
		}, [3]uint64{0, 5}},
		{"a fetching atomic heeds a fence", func(a, b transport.Channel, pe1 transport.Transport) {
			a.Post(1, transport.Add, word(1), 1)
			a.Fence(1)
			if _, err := a.Atomic(ctx, 1, transport.Add, word(2), 5, 0); err != nil {
				t.Fatal(err)
			}
		}, [3]uint64{1, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			net, pes := lateRig(t, 2, 1<<20, 0)
			var chans [2]transport.Channel
			for i := range chans {
				ch, err := pes[0].Channel(false)
				if err != nil {
					t.Fatal(err)
				}
				chans[i] = ch
			}
			c.run(chans[0], chans[1], pes[1])
			var got [3]uint64
			for i := range got {
				got[i] = shm.Load(net.hosts[1].Heap(0), word(uint64(i+1)))
			}
			if got != c.want {
				t.Errorf("the words are %v, want %v", got, c.want)
			}
		})
	}
}

// TestLateActsOnWhatItKnows: PE 0 puts to PE 2, and sets a flag on PE 1, at which PE 2 looks. The put is held while PE
// 2 has called nothing, while it looks at something else, and anew when it comes to know of the flag.
func TestLateActsOnWhatItKnows(t *testing.T) {
	net, pes := lateRig(t, 3, 1<<20, 0)
	net.patience, net.grace = time.Hour, 1000*time.Hour
	var chans [3]transport.Channel
	for pe := range pes {
		ch, err := pes[pe].Channel(false)
		if err != nil {
			t.Fatal(err)
		}
		chans[pe] = ch
	}
	flag := transport.Word{Off: 8, Bytes: 8}
	chans[0].Put(2, 16, []byte{1})
	chans[0].Fence(-1)
	chans[0].Post(1, transport.Set, flag, 1)
	put := net.held[0]
	look := func() {
		if _, err := chans[2].Atomic(t.Context(), 1, transport.Fetch, flag, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, overdue, expected, behind bool) {
		t.Helper()
		all := func(*lateOp) bool { return true }
		if o, e, b := net.overdue(put), net.expected(put), net.behind(put, all); o != overdue || e != expected || b != behind {
			t.Errorf("%s: overdue %v, want %v; expected %v, want %v; behind %v, want %v",
				when, o, overdue, e, expected, b, behind)
		}
	}
	wait := func() { // for any arrival, longer than the network is patient
		pes[2].(transport.Progresser).WaitDoorbell(0, 0)
		net.pes[2].waitBegan = time.Now().Add(-2 * time.Hour)
		put.issued = time.Now().Add(-3 * time.Hour)
	}
	put.issued = time.Now().Add(-2 * time.Hour)
	check("PE 2 has called nothing", false, false, true)
	put.issued = time.Now().Add(-lateSilence * time.Hour)
	check("and has called nothing for long", true, false, true)
	wait()
	check("it waits for anything", true, true, false)
	net.pes[2].waitBegan, put.issued = time.Now(), time.Now()
	look()
	wait()
	check("it has looked at the flag", true, false, true)
	net.deliver(1)
	check("the flag arrives", false, false, false)
	for range lateKnown - 1 {
		put.issued = time.Now().Add(-2 * time.Hour)
		net.pes[2].waitBegan = put.issued
		look()
		check("it sees the flag", false, false, false)
	}
	put.issued = time.Now().Add(-2 * time.Hour)
	net.recordCall(2, false)
	net.pes[2].looks = 0
	look()
	check("it has seen it often", true, false, false)

	if !pes[1].(transport.Progresser).WaitWord(flag, transport.EQ, 1, false, 0) || net.hasPolled(1) {
		t.Error("PE 1 has found what it waits for, and more may arrive before it acts on that")
	}
}

// TestLateDraws: with a seed, whatever the ordering rules leave open happens with one seed or another, and always the
// same with the same one.
func TestLateDraws(t *testing.T) {
	word := func(v byte) []byte { return []byte{v, 0, 0, 0, 0, 0, 0, 0} }
	run := func(seed uint64) (events string) {
		net, pes := lateRig(t, 2, 1<<20, seed)
		ch, err := pes[0].Channel(false)
		if err != nil {
			t.Fatal(err)
		}
		heap := net.hosts[1].Heap(0)
		see := func(when string, off uint64) { events += fmt.Sprintf("%s %d=%d\n", when, off, heap[off]) }
		src, got, old := word(1), word(9), word(9)
		ch.GetNB(1, got, 24)
		ch.(transport.ZeroCopyPutter).PutZcopy(1, 8, src)
		see("call", 8)
		src[0] = 2
		ch.AtomicNB(1, transport.Add, transport.Word{Off: 16, Bytes: 8}, 1, 0, old)
		events += fmt.Sprintf("call old=%d\n", old[0])
		heap[24] = 1 // by PE 1, whenever
		ch.Put(1, 32, word(1))
		ch.Fence(1)
		ch.Put(1, 40, word(1))
		for _, off := range []uint64{8, 16, 32, 40} {
			see("then", off)
		}
		if heap[40] == 1 && heap[32] == 0 {
			t.Errorf("seed %d: a put passes a fence", seed)
		}
		pes[1].(transport.Progresser).Fault(t.Context())
		see("polled", 16)
		if err := ch.Quiet(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		see("quiet", 8)
		return events + fmt.Sprintf("got=%d old=%d\n", got[0], old[0])
	}
	seen := map[string]bool{}
	for seed := range uint64(100) {
		first := run(seed)
		if again := run(seed); again != first {
			t.Errorf("seed %d: a second run is another:\n%s\nthe first was:\n%s", seed, again, first)
		}
		for line := range strings.Lines(first) {
			seen[strings.TrimSpace(line)] = true
		}
	}
	for _, want := range []string{
		"call 8=0", "call 8=1", // a put arrives later, and at the call
		"quiet 8=1", "quiet 8=2", // its source is read at the call, and later
		"call old=9", "call old=0", // the value of an atomic is there later, and at the call
		"then 32=0", "then 32=1", "then 40=0", "then 40=1",
		"polled 16=0", "polled 16=1",
		"got=0 old=0", "got=1 old=0", // the get reads before the store of PE 1, and after it
	} {
		if !seen[want] {
			t.Errorf("with no seed of 100: %s", want)
		}
	}
}

// TestLateNamesSeed: RunLateSeeds runs the latest order and each seed as a subtest, which a failure names.
func TestLateNamesSeed(t *testing.T) {
	if testing.Short() {
		t.Skip("PEs over a late network are skipped")
	}
	runs := 0
	RunLateSeeds(t, 1, 1, 3, func(context.Context, *pgas.World) error { runs++; return nil })
	if runs != 4 {
		t.Errorf("the body has run %d times, want 4", runs)
	}
	if kind := kindOf("TestX/late/seed=3"); kind != "late/seed=3" {
		t.Errorf("a failure begins with %q", kind)
	}
	if kind := kindOf("TestX/late/latest"); kind != "late/latest" {
		t.Errorf("a failure begins with %q", kind)
	}
}

// TestLateFindsMissingFence: a missing fence between a put and a flag is found, whatever the initiator does next,
// if the target waits before the initiator's quiet; with the fence there is nothing to find.
func TestLateFindsMissingFence(t *testing.T) {
	next := map[string]func(ctx context.Context, w *pgas.World) error{
		"leaves":   func(context.Context, *pgas.World) error { return nil },
		"quiets":   func(ctx context.Context, w *pgas.World) error { return w.Quiet(ctx) },
		"waits":    func(ctx context.Context, w *pgas.World) error { return w.Barrier(ctx) },
		"computes": func(context.Context, *pgas.World) error { time.Sleep(50 * time.Millisecond); return nil },
	}
	for name, then := range next {
		for _, atomics := range []bool{false, true} {
			for first, role := range []string{"initiator", "target"} {
				if role == "initiator" && name != "computes" {
					continue // all operations are complete before the target waits
				}
				t.Run(fmt.Sprintf("atomics=%v,first=%s,initiator=%s", atomics, role, name), func(t *testing.T) {
					if !atomics && raceDetector() {
						t.Skip("the race detector finds it by itself, and fails the test")
					}
					findMissingFence(t, putThenFlag{atomics: atomics, first: first, then: then})
				})
			}
		}
	}
}

// findMissingFence runs p without its fence until the error is found, and as often with the fence. On a busy
// machine the intended order of the PEs may fail, so there are several tries.
func findMissingFence(t *testing.T, p putThenFlag) {
	t.Helper()
	const tries = 20
	for try := range tries {
		p.fence = true
		if err := Late(t.Context(), 2, 2, Options{}, p.body()); err != nil {
			t.Fatalf("with a fence: %v", err)
		}
		p.fence = false
		err := Late(t.Context(), 2, 2, Options{}, p.body())
		if errors.Is(err, errStale) {
			t.Logf("found by try %d", try+1)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("a missing fence was not found in %d tries", tries)
}

var errStale = errors.New("the flag came before the data")

// putThenFlag is a program in which PE 0 puts data and then a flag, and PE 1 waits for the flag and looks at the data.
type putThenFlag struct {
	atomics bool // the data is set by an atomic
	first   int  // the PE that is first
	fence   bool
	then    func(context.Context, *pgas.World) error
}

func (p putThenFlag) body() Body {
	var ready atomic.Bool
	return func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		for p.first != w.PE() && !ready.Load() {
			time.Sleep(time.Millisecond)
		}
		if w.PE() == 0 {
			if p.first == 1 {
				time.Sleep(5 * time.Millisecond) // until it waits
			}
			p.send(w, mem)
			ready.Store(true)
			return p.then(ctx, w)
		}
		ready.Store(true)
		flag := pgas.AtomicOf(mem, 1)
		if _, err := flag.WaitUntil(ctx, pgas.EQ, 1); err != nil {
			return err
		}
		if p.atomics && pgas.AtomicOf(mem, 0).Fetch(1) != 7 || !p.atomics && mem.Local()[0] != 7 {
			return errStale
		}
		return p.then(ctx, w)
	}
}

func (p putThenFlag) send(w *pgas.World, mem pgas.Sym[int64]) {
	if p.atomics {
		pgas.AtomicOf(mem, 0).Set(1, 7)
	} else {
		mem.At(0).Put(1, 7)
	}
	if p.fence {
		w.Fence()
	}
	pgas.AtomicOf(mem, 1).Set(1, 1)
}

// raceDetector reports whether this test was built with the race detector.
func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-race" && s.Value == "true" })
}

// TestLateJob: a job runs over it.
func TestLateJob(t *testing.T) {
	for _, hosts := range []int{2, 3, 5} {
		t.Run(fmt.Sprint(hosts, " hosts"), func(t *testing.T) { RunLateSeeds(t, 5, hosts, 3, lateRing) })
	}
}

// lateRing passes data to the next PE, with what a slow network needs.
func lateRing(ctx context.Context, w *pgas.World) error {
	data, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err != nil {
		return err
	}
	next, prev := (w.PE()+1)%w.NPEs(), (w.PE()+w.NPEs()-1)%w.NPEs()
	ready := pgas.SignalOf(signals, 0)
	for round := range uint64(20) {
		want := 100*int64(round) + int64(prev)
		data.At(0).Put(next, 100*int64(round)+int64(w.PE()))
		w.Fence()
		ready.Set(next, round+1)
		if _, err := ready.WaitUntil(ctx, pgas.EQ, round+1); err != nil {
			return err
		}
		if got := data.Local()[0]; got != want {
			return fmt.Errorf("round %d: the data is %d, want %d", round, got, want)
		}
		if err := w.Sync(ctx); err != nil {
			return err
		}
	}
	return nil
}
