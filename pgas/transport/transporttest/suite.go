// Package transporttest is the suite that every transport must pass. It drives transports directly,
// below the runtime, against a naive twin: plain byte slices changed in program order. Each random
// failure prints the seed that repeats it.
package transporttest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/transport"
)

// A Rig is a job of PEs connected by the transport under test, all in this process.
type Rig struct {
	PEs   []transport.Transport // one per PE
	Heaps [][]byte              // the memory behind each PE's symmetric heap
	Words Words                 // loads a word of a heap as its owner would
	// Take takes the next note that has arrived at pe, and reports false if there is none.
	Take func(pe int, n *transport.Note) bool
	// SplitAtomics reports that a NIC executes atomics, and the CPU all other operations on the same memory:
	// only a fence orders the two.
	SplitAtomics bool
}

// Words loads a word of a heap atomically.
type Words func(heap []byte, word transport.Word) uint64

// HeapBytes is the size of each heap of a rig.
const HeapBytes = 8 << 20

// DataOff is the offset from which the suite uses the heaps. What a transport itself keeps in them must end before it.
const DataOff = 64 << 10

const base = DataOff

// Run runs the suite. open makes a fresh rig of npes PEs, and registers its own clean-up.
func Run(t *testing.T, open func(t *testing.T, npes int) *Rig) {
	for _, c := range []struct {
		name string
		npes int
		test func(t *testing.T, r *Rig)
	}{
		{"put", 2, testPut},
		{"get", 2, testGet},
		{"self", 1, testSelf},
		{"atomics", 2, testAtomics},
		{"half words", 2, testHalfWords},
		{"many atomics in flight", 3, testManyInFlight},
		{"put-signal proves its payload", 2, testPutSignal},
		{"fence orders puts and atomics", 2, testFence},
		{"quiets are independent", 3, testIndependentQuiets},
		{"goroutines share a channel", 3, testSharedChannel},
		{"random against the twin", 3, testRandom},
		{"cancelled quiet", 2, testCancelledQuiet},
		{"note follows its access", 2, testNoteFollows},
		{"quiet has notes in the queue", 2, testNotesInQueue},
		{"fence orders notified access", 2, testNotifyFence},
		{"full queues of notes", 2, testFullQueues},
		{"random notes against the twin", 3, testRandomNotes},
		{"later access to the same bytes wins", 2, testSameBytes},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t, c.npes)) })
	}
}

func channel(t *testing.T, r *Rig, pe int, private bool) transport.Channel {
	t.Helper()
	ch, err := r.PEs[pe].Channel(private)
	if err != nil {
		t.Fatalf("opening a channel: %v", err)
	}
	t.Cleanup(func() { ch.Close() })
	return ch
}

// limits holds one limited context for each running test: a test makes thousands of calls.
var limits sync.Map

// bounded returns a context for the calls of t. It ends if t hangs.
func bounded(t *testing.T) context.Context {
	if ctx, ok := limits.Load(t); ok {
		return ctx.(context.Context)
	}
	ctx, cancel := hang.Context(t.Context())
	limits.Store(t, ctx)
	t.Cleanup(func() {
		limits.Delete(t)
		cancel()
	})
	return ctx
}

func quiet(t *testing.T, ch transport.Channel) {
	t.Helper()
	if err := ch.Quiet(bounded(t), -1); err != nil {
		t.Fatalf("quiet: %v", err)
	}
}

func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7) + seed + byte(i>>8)
	}
	return b
}

// sizes are lengths of transfers, odd ones too, with one on each side of every plausible limit of a message.
var sizes = []int{0, 1, 3, 8, 9, 63, 64, 65, 511, 4095, 4096, 8100, 8192, 8193, 15 << 10, 15<<10 + 1, 65535, 1 << 16, 300_001, 1 << 20, 3<<20 + 5}

func testPut(t *testing.T, r *Rig) {
	for _, private := range []bool{false, true} {
		ch := channel(t, r, 0, private)
		for i, n := range sizes {
			at := base + i%5
			heap := r.Heaps[1]
			clear(heap[base-8 : at+n+64])
			src := pattern(n, byte(i))
			want := append(append(make([]byte, at-(base-8)), src...), make([]byte, 64)...)
			ch.Put(1, uint64(at), src)
			clear(src) // it may be reused on return
			quiet(t, ch)
			if got := heap[base-8 : at+n+64]; !bytes.Equal(got, want) {
				t.Fatalf("put of %d bytes (private %v): heap differs from byte %d on", n, private, firstDifference(got, want))
			}
		}
	}
}

func testGet(t *testing.T, r *Rig) {
	ch := channel(t, r, 0, false)
	var late []struct{ got, want []byte }
	for i, n := range sizes {
		at := base + i%5
		if at+n > len(r.Heaps[1]) {
			continue
		}
		copy(r.Heaps[1][at:], pattern(n, byte(i)))
		got := make([]byte, n)
		if err := ch.Get(bounded(t), 1, got, uint64(at)); err != nil {
			t.Fatal(err)
		}
		if want := pattern(n, byte(i)); !bytes.Equal(got, want) {
			t.Fatalf("get of %d bytes differs from byte %d on", n, firstDifference(got, want))
		}
	}
	copy(r.Heaps[1][base:], pattern(4<<20, 3))
	for _, n := range sizes {
		got := make([]byte, n)
		ch.GetNB(1, got, base)
		late = append(late, struct{ got, want []byte }{got, pattern(n, 3)})
	}
	quiet(t, ch)
	for _, l := range late {
		if !bytes.Equal(l.got, l.want) {
			t.Fatalf("non-blocking get of %d bytes is not complete after quiet: differs from byte %d on", len(l.got), firstDifference(l.got, l.want))
		}
	}
}

func testSelf(t *testing.T, r *Rig) {
	ch := channel(t, r, 0, false)
	ch.Put(0, base, []byte("to myself"))
	quiet(t, ch)
	got := make([]byte, 9)
	if err := ch.Get(bounded(t), 0, got, base); err != nil || string(got) != "to myself" {
		t.Fatalf("got %q, %v", got, err)
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// testAtomics compares every operation on every pair of values with its twin, in each way to issue it: waiting for
// the old value, without the old value, and with the old value at the next quiet.
func testAtomics(t *testing.T, r *Rig) {
	ch := channel(t, r, 0, false)
	for _, width := range []int{4, 8} {
		cases := atomicCases(width)
		words := make([]transport.Word, len(cases))
		for i := range words {
			words[i] = transport.Word{Off: uint64(base + width*i), Bytes: width}
		}
		for _, way := range []string{"waiting", "posted", "non-blocking"} {
			for i, c := range cases {
				ch.Post(1, transport.Set, words[i], c.old)
			}
			quiet(t, ch)
			olds := make([]uint64, len(cases))
			late := make([]byte, 8*len(cases))
			for i, c := range cases {
				switch {
				case way == "waiting":
					var err error
					if olds[i], err = ch.Atomic(bounded(t), 1, c.op, words[i], c.operand, c.cond); err != nil {
						t.Fatal(err)
					}
				case way == "non-blocking":
					ch.AtomicNB(1, c.op, words[i], c.operand, c.cond, late[8*i:][:width])
				case c.op != transport.CompareSwap: // which must be told what to compare with
					ch.Post(1, c.op, words[i], c.operand)
				}
			}
			quiet(t, ch)
			for i, c := range cases {
				if way == "non-blocking" {
					olds[i] = binary.NativeEndian.Uint64(late[8*i:]) // zeros follow a short one
				}
				if way != "posted" && olds[i] != c.old {
					t.Fatalf("%s %s of a %d-byte word: the old value is %#x, want %#x", way, c.op, width, olds[i], c.old)
				}
				want := Twin(c.op, c.old, c.operand, c.cond, width)
				if way == "posted" && c.op == transport.CompareSwap {
					want = c.old
				}
				if got := r.Words(r.Heaps[1], words[i]); got != want {
					t.Fatalf("%s %s(%#x) on %#x of %d bytes left %#x, want %#x", way, c.op, c.operand, c.old, width, got, want)
				}
			}
		}
	}
}

type atomicCase struct {
	op                 transport.Op
	old, operand, cond uint64
}

func atomicCases(width int) []atomicCase {
	values := []uint64{0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 1 << 63, ^uint64(0), 0x0123456789abcdef}
	narrow := func(v uint64) uint64 {
		if width == 4 {
			return uint64(uint32(v))
		}
		return v
	}
	for _, f := range []float64{1.5, -2, 1e30, math.Inf(-1), 0x1p-140} {
		if width == 4 {
			values = append(values, uint64(math.Float32bits(float32(f))))
		} else {
			values = append(values, math.Float64bits(f))
		}
	}
	var cases []atomicCase
	for op := range transport.NumOps {
		for _, old := range values {
			for i, operand := range values {
				old, operand := narrow(old), narrow(operand)
				if Orderly(op, old, operand, width) {
					// Every other compare-swap must not happen.
					cases = append(cases, atomicCase{op, old, operand, narrow(old + uint64(i%2))})
				}
			}
		}
	}
	return cases
}

// testManyInFlight issues more non-blocking fetches than any transport can have in flight at once, to two PEs in turn.
// Each fetch must return a value of its own, and a quiet to one PE must complete the fetches from it.
func testManyInFlight(t *testing.T, r *Rig) {
	const n = 5000
	ch := channel(t, r, 0, false)
	at := []transport.Word{{}, {Off: base, Bytes: 8}, {Off: base + 64, Bytes: 4}}
	got := make([][]byte, n)
	for i := range got {
		pe := 1 + i%2
		got[i] = make([]byte, at[pe].Bytes)
		ch.AtomicNB(pe, transport.Add, at[pe], 1, 0, got[i])
		if i%3 == 0 {
			ch.GetNB(pe, make([]byte, 100), base+128) // also takes room among the outstanding answers
		}
		if i%1000 == 0 {
			if _, err := ch.Atomic(bounded(t), 1, transport.Fetch, at[1], 0, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	for pe := 1; pe <= 2; pe++ {
		if err := ch.Quiet(bounded(t), pe); err != nil {
			t.Fatal(err)
		}
		if v := r.Words(r.Heaps[pe], at[pe]); v != n/2 {
			t.Fatalf("%d increments of PE %d left %d", n/2, pe, v)
		}
		seen := make([]bool, n/2)
		for i := pe - 1; i < n; i += 2 {
			var v uint64
			if at[pe].Bytes == 4 {
				v = uint64(binary.NativeEndian.Uint32(got[i]))
			} else {
				v = binary.NativeEndian.Uint64(got[i])
			}
			if v >= n/2 || seen[v] {
				t.Fatalf("PE %d: value %d of increment %d is out of range or was seen before", pe, v, i)
			}
			seen[v] = true
		}
	}
}

// testHalfWords checks that a 4-byte atomic does not change the other half of its 8-byte word.
func testHalfWords(t *testing.T, r *Rig) {
	ch := channel(t, r, 0, false)
	whole := transport.Word{Off: base + 128, Bytes: 8}
	low, high := transport.Word{Off: base + 128, Bytes: 4}, transport.Word{Off: base + 132, Bytes: 4}
	ch.Post(1, transport.Set, whole, 0x11111111_22222222)
	ch.Post(1, transport.Add, low, 0xffffffff) // wraps within its half
	ch.Post(1, transport.Set, high, 0x33333333)
	quiet(t, ch)
	if got := r.Words(r.Heaps[1], whole); got != 0x33333333_22222221 {
		t.Fatalf("the word is %#x", got)
	}
	ch.Post(1, transport.Add, whole, 0x1_00000000)
	old, err := ch.Atomic(bounded(t), 1, transport.Fetch, high, 0, 0)
	if err != nil || old != 0x33333334 {
		t.Fatalf("upper half is %#x, %v", old, err)
	}
}

// awaitWord polls a word as its owner until it reaches want, with the transport's WaitWord if it has one.
func awaitWord(t *testing.T, r *Rig, pe int, word transport.Word, want uint64) {
	t.Helper()
	limit := bounded(t)
	waiter, drives := r.PEs[pe].(transport.Progresser)
	for r.Words(r.Heaps[pe], word) < want {
		if limit.Err() != nil {
			t.Fatalf("PE %d: the word at %d is %d and does not reach %d", pe, word.Off, r.Words(r.Heaps[pe], word), want)
		}
		if drives {
			waiter.WaitWord(word, transport.GE, want, false, time.Millisecond)
		} else {
			time.Sleep(10 * time.Microsecond)
		}
	}
}

func testPutSignal(t *testing.T, r *Rig) {
	ch := channel(t, r, 0, false)
	sig := transport.Word{Off: base, Bytes: 8}
	round := uint64(0)
	for _, n := range sizes {
		if base+64+n > len(r.Heaps[1]) {
			continue
		}
		for k := range 3 {
			round++
			src := pattern(n, byte(round))
			op, value := transport.Set, round
			if k == 1 {
				op, value = transport.Add, 1
			}
			ch.PutSignal(1, base+64, src, sig.Off, op, value)
			awaitWord(t, r, 1, sig, round)
			if got := r.Heaps[1][base+64 : base+64+n]; !bytes.Equal(got, src) {
				t.Fatalf("signal %d came before its payload of %d bytes: differs from byte %d on", round, n, firstDifference(got, src))
			}
		}
	}
	quiet(t, ch)
}

// testFence checks that a PE that sees a flag set after a fence sees everything put before the fence.
func testFence(t *testing.T, r *Rig) {
	ch := channel(t, r, 0, false)
	flag := transport.Word{Off: base, Bytes: 8}
	count := transport.Word{Off: base + 8, Bytes: 8}
	for i, n := range []int{8, 4096, 100_000, 1, 8192, 1 << 20, 16} {
		src := pattern(n, byte(i))
		ch.Put(1, base+64, src)
		ch.Post(1, transport.Add, count, 1)
		ch.Fence(1)
		ch.Post(1, transport.Set, flag, uint64(i+1))
		ch.PutSignal(1, 0, nil, flag.Off, transport.Set, uint64(i+1)) // pushes it out
		awaitWord(t, r, 1, flag, uint64(i+1))
		if got := r.Heaps[1][base+64 : base+64+n]; !bytes.Equal(got, src) {
			t.Fatalf("the flag overtook a put of %d bytes", n)
		}
		if got := r.Words(r.Heaps[1], count); got != uint64(i+1) {
			t.Fatalf("the flag overtook an atomic: count is %d, want %d", got, i+1)
		}
	}
	quiet(t, ch)
}

// testIndependentQuiets checks that a quiet completes what was issued on its channel, to its PE, and that quiets of
// other channels and to other PEs do not disturb that.
func testIndependentQuiets(t *testing.T, r *Rig) {
	a, b := channel(t, r, 0, true), channel(t, r, 0, true)
	for i := range 50 {
		a.Put(1, base+8, pattern(8, byte(i)))
		b.Put(1, base+16, pattern(8, byte(i+1)))
		a.Put(2, base+8, pattern(8, byte(i+2)))
		if err := a.Quiet(bounded(t), 1); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.Heaps[1][base+8:base+16], pattern(8, byte(i))) {
			t.Fatal("quiet to one PE left a put to it undone")
		}
		quiet(t, b)
		if !bytes.Equal(r.Heaps[1][base+16:base+24], pattern(8, byte(i+1))) {
			t.Fatal("quiet left a put undone")
		}
		quiet(t, a)
		if !bytes.Equal(r.Heaps[2][base+8:base+16], pattern(8, byte(i+2))) {
			t.Fatal("quiet left a put to another PE undone")
		}
	}
}

func testSharedChannel(t *testing.T, r *Rig) {
	const workers, rounds = 8, 200
	at := transport.Word{Off: base, Bytes: 8}
	seen := make([]map[uint64]bool, len(r.PEs)*workers)
	var wg sync.WaitGroup
	for pe := range r.PEs {
		ch := channel(t, r, pe, false)
		for g := range workers {
			seen[pe*workers+g] = map[uint64]bool{}
			wg.Go(func() {
				for i := range rounds {
					old, err := ch.Atomic(bounded(t), 2, transport.Add, at, 1, 0)
					if err != nil {
						t.Errorf("PE %d: %v", pe, err)
						return
					}
					seen[pe*workers+g][old] = true
					ch.Put(2, uint64(base+64+8*(pe*workers+g)), pattern(8, byte(i)))
				}
				if err := ch.Quiet(bounded(t), -1); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	all := map[uint64]bool{}
	for _, m := range seen {
		for v := range m {
			if all[v] {
				t.Fatalf("two fetch-adds returned %d", v)
			}
			all[v] = true
		}
	}
	if want := len(r.PEs) * workers * rounds; len(all) != want || r.Words(r.Heaps[2], at) != uint64(want) {
		t.Fatalf("%d distinct values and a sum of %d, want %d", len(all), r.Words(r.Heaps[2], at), want)
	}
	for k := range len(r.PEs) * workers {
		if got := r.Heaps[2][base+64+8*k:][:8]; !bytes.Equal(got, pattern(8, rounds-1)) {
			t.Fatalf("the last put of goroutine %d is missing", k)
		}
	}
}

// Seed returns the seed of random tests: TEST_SEED, or a new one.
func Seed() uint64 {
	if s, err := strconv.ParseUint(os.Getenv("TEST_SEED"), 10, 64); err == nil {
		return s
	}
	return rand.Uint64()
}

// testRandom issues random operations from one PE to all, and compares with a twin. It fences before each operation,
// because only fences order overlapping operations of different kinds.
func testRandom(t *testing.T, r *Rig) {
	seed := Seed()
	rng := rand.New(rand.NewPCG(seed, 1))
	replay := fmt.Sprintf("replay with: TEST_SEED=%d go test -run '%s'", seed, t.Name())
	ch := channel(t, r, 0, false)
	const span = 1 << 16
	twins := make([][]byte, len(r.PEs))
	for pe := range twins {
		twins[pe] = make([]byte, span)
		clear(r.Heaps[pe][base : base+span])
	}
	var late lateValues
	for step := range 3000 {
		pe := rng.IntN(len(r.PEs))
		ch.Fence(pe)
		switch rng.IntN(6) {
		case 0, 1:
			n := 1 + rng.IntN(1<<rng.IntN(15))
			at := rng.IntN(span - n)
			src := pattern(n, byte(step))
			ch.Put(pe, uint64(base+at), src)
			copy(twins[pe][at:], src)
		case 2:
			n := 1 + rng.IntN(1<<rng.IntN(12))
			at := rng.IntN(span - n)
			got := make([]byte, n)
			quiet(t, ch) // a get is not ordered after puts by a fence
			late.check(t)
			if err := ch.Get(bounded(t), pe, got, uint64(base+at)); err != nil {
				t.Fatalf("%v; %s", err, replay)
			}
			if !bytes.Equal(got, twins[pe][at:at+n]) {
				t.Fatalf("step %d: get of %d bytes at %d from PE %d differs from byte %d on; %s", step, n, at, pe, firstDifference(got, twins[pe][at:at+n]), replay)
			}
		default:
			randomAtomic(t, r, ch, rng, pe, twins[pe], &late, replay)
		}
	}
	quiet(t, ch)
	late.check(t)
	for pe := range twins {
		if got := r.Heaps[pe][base : base+span]; !bytes.Equal(got, twins[pe]) {
			t.Fatalf("PE %d differs from its twin from byte %d on; %s", pe, firstDifference(got, twins[pe]), replay)
		}
	}
}

// lateValues are checks of old values that a quiet must have stored.
type lateValues []func(t *testing.T)

func (l *lateValues) add(ch transport.Channel, pe int, op transport.Op, word transport.Word, operand, old uint64, replay string) {
	dst := make([]byte, 8)
	ch.AtomicNB(pe, op, word, operand, old, dst[:word.Bytes])
	*l = append(*l, func(t *testing.T) {
		if got := binary.NativeEndian.Uint64(dst); got != old {
			t.Fatalf("non-blocking %s at %d of PE %d brought %#x, want %#x; %s", op, word.Off, pe, got, old, replay)
		}
	})
}

func (l *lateValues) check(t *testing.T) {
	for _, check := range *l {
		check(t)
	}
	*l = nil
}

func randomAtomic(t *testing.T, r *Rig, ch transport.Channel, rng *rand.Rand, pe int, twinHeap []byte, late *lateValues, replay string) {
	width := 4 << rng.IntN(2)
	at := rng.IntN(len(twinHeap)/width) * width
	word := transport.Word{Off: uint64(base + at), Bytes: width}
	old := r.Words(twinHeap, transport.Word{Off: uint64(at), Bytes: width})
	operand := rng.Uint64() >> (64 - 8*width)
	op := transport.Op(rng.IntN(int(transport.NumOps)))
	if !Orderly(op, old, operand, width) {
		op = transport.Add
	}
	switch way := rng.IntN(3); {
	case way == 0 && op != transport.CompareSwap && op != transport.Fetch:
		ch.Post(pe, op, word, operand)
	case way == 1:
		late.add(ch, pe, op, word, operand, old, replay)
	default:
		got, err := ch.Atomic(bounded(t), pe, op, word, operand, old)
		if err != nil || got != old {
			t.Fatalf("%s at %d of PE %d returned %#x, %v; want %#x; %s", op, at, pe, got, err, old, replay)
		}
	}
	v := Twin(op, old, operand, old, width)
	for i := range width {
		twinHeap[at+i] = byte(v >> (8 * i))
	}
}

// testCancelledQuiet checks that a quiet returns if its context has ended, and that the channel can be used afterwards.
func testCancelledQuiet(t *testing.T, r *Rig) {
	ch := channel(t, r, 0, false)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for i := range 20 {
		old := make([]byte, 8)
		ch.Put(1, base, pattern(100, byte(i)))
		ch.AtomicNB(1, transport.Add, transport.Word{Off: base + 128, Bytes: 8}, 1, 0, old)
		ch.Quiet(ctx, -1) // either outcome: it may have completed before it checked ctx
		quiet(t, ch)
		if got := binary.NativeEndian.Uint64(old); got != uint64(i) {
			t.Fatalf("after a cancelled quiet and another, the old value is %d, want %d", got, i)
		}
		if !bytes.Equal(r.Heaps[1][base:base+100], pattern(100, byte(i))) {
			t.Fatal("a put was lost to a cancelled quiet")
		}
	}
}
