//go:build cgo

package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// node is an engine with what it works on.
type node struct {
	*Engine
	heap   []byte
	around []byte // heap lies in the middle of it
	*words
	tags map[lane][2]uint64 // of the lanes that apply has opened
}

// words are those that C keeps pointers to; they lie apart from what holds pointers of Go.
type words struct {
	waiting atomic.Uint64
	door    atomic.Uint32
	failed  atomic.Uint64
}

// lane is the name of a lane at its target.
type lane struct{ pe, number uint32 }

var testKey = [KeyBytes]byte{1, 2, 3}

// newNode makes the engine of pe; unless it is mute, it serves.
func newNode(t testing.TB, pe int, mute bool, silence time.Duration, changes ...func(*Config)) *node {
	t.Helper()
	n := &node{around: make([]byte, 3<<20), words: new(words), tags: map[lane][2]uint64{}}
	n.heap = n.around[1<<20 : 2<<20 : 2<<20]
	config := Config{PE: pe, NPEs: 2, Key: testKey, Heap: n.heap, Waiting: &n.waiting, Doorbell: &n.door, Failed: &n.failed, PeerTimeout: silence}
	for _, change := range changes {
		change(&config)
	}
	e, err := prepare(config)
	if err != nil {
		t.Fatal(err)
	}
	n.Engine = e
	if !mute {
		if err := e.start(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { e.Close() })
	return n
}

// pair is two engines that reach each other by TCP, and a channel of the first.
func pair(t testing.TB, mute bool, silence time.Duration) (a, b *node, c *Channel) {
	t.Helper()
	t.Setenv("UCX_TLS", "tcp")
	a, b = newNode(t, 0, false, silence), newNode(t, 1, mute, silence)
	c, err := a.Channel(false, func(pe int) []byte { return [][]byte{a.Address(), b.Address()}[pe] })
	if err != nil {
		t.Fatal(err)
	}
	return a, b, c
}

func word(heap []byte, off uint64) uint64 {
	return atomic.LoadUint64(wordAt(heap, off))
}

// eventually waits for something that happens without help.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit, cancel := hang.Context(t.Context())
	defer cancel()
	for !ok() {
		if limit.Err() != nil {
			t.Fatalf("%s: %v", what, context.Cause(limit))
		}
		time.Sleep(50 * time.Microsecond)
	}
}

func TestGatheredPutLeavesByItself(t *testing.T) {
	_, b, c := pair(t, false, 0)
	for i := range uint64(3) {
		c.Put(1, 4096, binary.NativeEndian.AppendUint64(nil, i+1))
		eventually(t, "the put arrives", func() bool { return word(b.heap, 4096) == i+1 })
		time.Sleep(30 * time.Millisecond) // the service thread sleeps deeply by now
	}
}

func TestPutsAreGathered(t *testing.T) {
	_, b, c := pair(t, false, 0)
	const puts = 10000
	for i := range uint64(puts) {
		c.Put(1, 4096+8*i, binary.NativeEndian.AppendUint64(nil, i))
	}
	if err := c.Quiet(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(puts) {
		if got := word(b.heap, 4096+8*i); got != i {
			t.Fatalf("word %d is %d", i, got)
		}
	}
	// 24 bytes each in messages of 16 KiB are 15 messages; the service thread's ticks cut some short.
	if n := b.Served(); n > puts/10 {
		t.Fatalf("%d puts took %d messages", puts, n)
	}
}

func TestSignalAloneLeavesAtOnce(t *testing.T) {
	a, b, c := pair(t, false, 0)
	if err := c.Quiet(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	c.PutSignal(1, 4096, []byte("payload"), 64, wordSet, 7)
	eventually(t, "the signal arrives", func() bool { return word(b.heap, 64) == 7 })
	if string(b.heap[4096:4103]) != "payload" {
		t.Fatal("the signal came before its payload")
	}
	if a.rejected()+b.rejected() != 0 {
		t.Fatal("records were rejected")
	}
}

// message is a request with one put of value to off.
func message(seq, pe, lane uint32, off, value uint64) []byte {
	m := binary.NativeEndian.AppendUint32(nil, firstNumber+seq)
	m = binary.NativeEndian.AppendUint16(m, 1)
	m = binary.NativeEndian.AppendUint16(m, 0)
	m = binary.NativeEndian.AppendUint32(m, pe)
	m = binary.NativeEndian.AppendUint32(m, lane)
	m = binary.NativeEndian.AppendUint64(m, 0) // the tag
	m = append(m, 1, 0, 0, 0)
	m = binary.NativeEndian.AppendUint32(m, 8)
	m = binary.NativeEndian.AppendUint64(m, off)
	return binary.NativeEndian.AppendUint64(m, value)
}

// apply delivers a request with the tag of its lane, which it opens if need be.
func (n *node) apply(m []byte) int {
	if len(m) >= headBytes {
		at := lane{binary.NativeEndian.Uint32(m[8:]), binary.NativeEndian.Uint32(m[12:])}
		if _, known := n.tags[at]; !known {
			var opening []byte
			opening, n.tags[at] = n.opening(n.Address(), at.pe, uint32(n.config.PE), at.number)
			n.Engine.deliver(opening)
		}
		binary.NativeEndian.PutUint64(m[16:], n.tags[at][0])
	}
	return n.Engine.deliver(m)
}

func TestMessagesOutOfOrderAreHeld(t *testing.T) {
	for seed := range uint64(20) {
		n := newNode(t, 1, true, 0)
		r := rand.New(rand.NewPCG(seed, 2))
		const lanes, each = 100, 20
		// Each lane writes its numbers to one word in turn; whatever the order of arrival, the word must
		// hold the last number that all before it have come for.
		var arrivals [][2]uint32
		for lane := range uint32(lanes) {
			for seq := range uint32(each) {
				arrivals = append(arrivals, [2]uint32{lane, seq + 1})
			}
		}
		r.Shuffle(len(arrivals), func(i, j int) { arrivals[i], arrivals[j] = arrivals[j], arrivals[i] })
		come := map[[2]uint32]bool{}
		for i, at := range arrivals {
			lane, seq := at[0], at[1]
			n.apply(message(seq, lane%2, lane+1, 64+8*uint64(lane), uint64(seq)))
			if r.IntN(4) == 0 { // a repeated message changes nothing
				n.apply(message(seq, lane%2, lane+1, 64+8*uint64(lane), uint64(seq)))
			}
			come[at] = true
			want := uint32(0)
			for come[[2]uint32{lane, want + 1}] {
				want++
			}
			if got := word(n.heap, 64+8*uint64(lane)); got != uint64(want) {
				t.Fatalf("seed %d, after %d messages: word of lane %d is %d, want %d", seed, i+1, lane, got, want)
			}
		}
		if n.Served() != lanes*each || n.rejected() != 0 {
			t.Fatalf("served %d, rejected %d", n.Served(), n.rejected())
		}
		n.Close()
	}
}

func FuzzMalformedRequestsAreRejected(f *testing.F) {
	f.Add(message(1, 0, 1, 64, 1))
	f.Add(message(1, 0, 1, 1<<20-4, 1))
	f.Add(message(1, 0, 1, ^uint64(0), 1))
	f.Add(strided(recScatter, 1, 1, 64, 16, 8, 24, make([]byte, 16)))
	f.Add(strided(recGather, 1, 1, 64, 16, 8, 24, nil))
	f.Add([]byte("short"))
	n := newNode(f, 1, true, 0)
	outside := [][]byte{n.around[:1<<20], n.around[2<<20:]}
	untouched := make([]byte, 1<<20)
	f.Fuzz(func(t *testing.T, m []byte) {
		if len(m) >= 16 {
			// A lane of its own, at its first message.
			binary.NativeEndian.PutUint32(m, firstNumber+1)
			binary.NativeEndian.PutUint32(m[8:], 0)
			binary.NativeEndian.PutUint32(m[12:], uint32(n.Served()+n.rejected())+1)
		}
		n.apply(m)
		if !bytes.Equal(outside[0], untouched) || !bytes.Equal(outside[1], untouched) {
			t.Fatal("memory outside the heap was written")
		}
	})
}

func TestOutOfBoundsIsRejected(t *testing.T) {
	n := newNode(t, 1, true, 0)
	for i, off := range []uint64{1<<20 - 7, 1 << 20, ^uint64(0), ^uint64(7)} {
		n.apply(message(1, 0, uint32(i)+1, off, 1))
		if n.rejected() != uint64(i)+1 {
			t.Fatalf("a put of 8 bytes to %#x was not rejected", off)
		}
	}
}

func TestCancelledWaits(t *testing.T) {
	_, b, c := pair(t, true, 0)
	cause := errors.New("enough")
	cancelled := func() context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
		return ctx
	}
	dst, large := []byte("untouched"), bytes.Repeat([]byte("x"), 100000)
	c.Put(1, 4096, []byte("answered"))
	for _, op := range []struct {
		name string
		run  func(ctx context.Context) error
	}{
		{"quiet of all", func(ctx context.Context) error { return c.Quiet(ctx, -1) }},
		{"quiet of one", func(ctx context.Context) error { return c.Quiet(ctx, 1) }},
		{"get", func(ctx context.Context) error { return c.Get(ctx, 1, dst, 4096) }},
		{"large get", func(ctx context.Context) error { return c.Get(ctx, 1, large, 4096) }},
		{"fetch", func(ctx context.Context) error { _, err := c.Fetch(ctx, 1, 4, 64, 8, 1, 0); return err }},
	} {
		if err := op.run(cancelled()); !errors.Is(err, cause) {
			t.Fatalf("%s: %v", op.name, err)
		}
	}
	// The target comes to life: everything issued takes effect, and nothing is written to what the
	// cancelled gets were given.
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
	if err := c.Quiet(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	if string(b.heap[4096:4104]) != "answered" || word(b.heap, 64) != 1 {
		t.Fatal("what was issued before the cancelled waits did not take effect")
	}
	if string(dst) != "untouched" || !bytes.Equal(large, bytes.Repeat([]byte("x"), 100000)) {
		t.Fatal("a cancelled get was written to")
	}
	if old, err := c.Fetch(t.Context(), 1, 0, 64, 8, 0, 0); err != nil || old != 1 {
		t.Fatal(old, err)
	}
}

func TestSilentPeer(t *testing.T) {
	_, _, c := pair(t, true, 100*time.Millisecond)
	c.Put(1, 4096, []byte("hello"))
	var lost *LostError
	if err := c.Quiet(t.Context(), -1); !errors.As(err, &lost) || lost.PE != 1 || lost.Reason != Silent {
		t.Fatalf("%v", err)
	}
	for _, pe := range []int{-1, 1, -1} {
		if err := c.Quiet(t.Context(), pe); !errors.As(err, &lost) || lost.PE != 1 || lost.Reason != Silent {
			t.Fatalf("the loss is reported once, and then Quiet of %d returns %v", pe, err)
		}
	}
	c.Put(1, 4096, []byte("hello"))
	if err := c.Quiet(t.Context(), 1); !errors.As(err, &lost) {
		t.Fatalf("a put to a lost PE was not reported: %v", err)
	}
	if _, err := c.Fetch(t.Context(), 1, 0, 64, 8, 0, 0); !errors.As(err, &lost) {
		t.Fatalf("a fetch from a lost PE: %v", err)
	}
	if err := c.Get(t.Context(), 1, make([]byte, 8), 64); !errors.As(err, &lost) {
		t.Fatalf("a get from a lost PE: %v", err)
	}
	c.Put(0, 4096, []byte("others go on"))
	if err := c.Quiet(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

func TestLauncherKnows(t *testing.T) {
	a, _, c := pair(t, true, 0)
	for _, op := range []struct {
		name string
		run  func() error
	}{
		{"quiet", func() error { return c.Quiet(t.Context(), -1) }},
		{"get", func() error { return c.Get(t.Context(), 1, make([]byte, 100), 64) }},
	} {
		c.Put(1, 4096, []byte("hello"))
		time.AfterFunc(10*time.Millisecond, func() { a.failed.Store(2) })
		var lost *LostError
		if err := op.run(); !errors.As(err, &lost) || lost.PE != 1 {
			t.Fatalf("%s: %v", op.name, err)
		}
	}
}

// TestUnknownAddress: operations to a PE whose address cannot be had are lost, and UCX's settings are not blamed.
func TestUnknownAddress(t *testing.T) {
	t.Setenv("UCX_TLS", "tcp")
	a := newNode(t, 0, false, 0)
	c, err := a.Channel(true, func(int) []byte { return nil })
	if err != nil {
		t.Fatal(err)
	}
	c.Put(1, 64, make([]byte, 20000))
	var lost *LostError
	if err := c.Quiet(t.Context(), -1); !errors.As(err, &lost) || lost.Reason != Unknown || strings.Contains(err.Error(), "UCX_TLS") {
		t.Fatal(err)
	}
}

func TestUnusableTransport(t *testing.T) {
	t.Setenv("UCX_TLS", "nonsense")
	_, err := Open(Config{PE: 0, NPEs: 2, Key: testKey, Heap: make([]byte, 64), Waiting: new(atomic.Uint64), Doorbell: new(atomic.Uint32), Failed: new(atomic.Uint64)})
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%v", err)
	}
}

func TestSleeperIsRung(t *testing.T) {
	const anyWord = 1
	_, b, c := pair(t, false, 0)
	// The bell is rung after the answer has left, and before the next message is applied.
	settle := func() {
		for range 2 {
			c.Post(1, wordSet, 128, 8, 1)
			if err := c.Quiet(t.Context(), -1); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, waiting := range []uint64{anyWord, 64} {
		b.waiting.Store(waiting)
		door := b.door.Load()
		c.Post(1, wordSet, 72, 8, 1)
		c.Put(1, 56, make([]byte, 8))
		settle()
		if rung := b.door.Load() != door; rung != (waiting == anyWord) {
			t.Fatalf("waiting for %d: rung for other words: %v", waiting, rung)
		}
		for _, update := range []func(){
			func() { c.Post(1, wordSet, 68, 4, 1) },
			func() { c.Put(1, 60, make([]byte, 8)) },
			func() { c.Put(1, 0, make([]byte, 100000)) },
			func() { c.PutSignal(1, 4096, nil, 64, wordSet, 1) },
		} {
			door = b.door.Load()
			update()
			settle()
			if b.door.Load() == door {
				t.Fatalf("waiting for %d: not rung", waiting)
			}
		}
	}
}

// A panic for a nil pointer must stay one: UCX's handlers of the same signals must not get in its way.
func TestNilPointerStillPanics(t *testing.T) {
	pair(t, false, 0)
	defer func() {
		if err, ok := recover().(runtime.Error); !ok || !strings.Contains(err.Error(), "nil pointer") {
			t.Fatal("no panic")
		}
	}()
	var p *node
	t.Log(len(p.heap))
}

func TestNoAllocations(t *testing.T) {
	_, _, c := pair(t, false, 0)
	ctx, eight, some := t.Context(), make([]byte, 8), make([]byte, 1000)
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, op := range []struct {
		name string
		run  func()
	}{
		{"put", func() { c.Put(1, 4096, eight) }},
		{"put and quiet", func() { c.Put(1, 4096, eight); check(c.Quiet(ctx, -1)) }},
		{"put with signal", func() { c.PutSignal(1, 4096, some, 64, wordSet, 1) }},
		{"post", func() { c.Post(1, 4, 64, 8, 1) }},
		{"fetch", func() { _, err := c.Fetch(ctx, 1, 4, 64, 8, 1, 0); check(err) }},
		{"get 8", func() { check(c.Get(ctx, 1, eight, 4096)) }},
		{"get 1000", func() { check(c.Get(ctx, 1, some, 4096)) }},
		{"get nb and quiet", func() { c.GetNB(1, some, 4096); check(c.Quiet(ctx, 1)) }},
	} {
		op.run()
		if n := testing.AllocsPerRun(200, op.run); n != 0 {
			t.Errorf("%s: %v allocations", op.name, n)
		}
	}
}

// TestWaitsKeepTheirProcessor: an engine leaves the Go scheduler with one processor only if the user wants it.
func TestWaitsKeepTheirProcessor(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	t.Setenv("GOMAXPROCS", "1")
	if twoProcessors(); runtime.GOMAXPROCS(0) != 1 {
		t.Errorf("the user has asked for one processor and has %d", runtime.GOMAXPROCS(0))
	}
	t.Setenv("GOMAXPROCS", "")
	if twoProcessors(); runtime.GOMAXPROCS(0) != 2 {
		t.Errorf("a process on one CPU has %d processors", runtime.GOMAXPROCS(0))
	}
}

// TestSleepersAskWhetherPeersLive: a PE that sleeps asks whether the PEs that it watches answer, be it for words of its
// heap or for members of a team on its host, and it wakes when one does not.
func TestSleepersAskWhetherPeersLive(t *testing.T) {
	for name, sleep := range map[string]func(n *node, group *atomic.Uint64){
		"for words":   func(n *node, _ *atomic.Uint64) { n.waiting.Store(1) },
		"for members": func(_ *node, group *atomic.Uint64) { group.Store(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("UCX_TLS", "tcp")
			var group atomic.Uint64
			a := newNode(t, 0, false, 100*time.Millisecond, func(c *Config) { c.ForGroup = &group })
			b := newNode(t, 1, true, 0)
			a.Watch(1, b.Address(), false)
			door := a.door.Load()
			sleep(a, &group)
			eventually(t, "the sleeper finds that PE 1 does not answer", func() bool { return a.Lost() != nil })
			eventually(t, "the sleeper wakes", func() bool { return a.door.Load() != door })
		})
	}
}

// TestRefusedOperations: a target that cannot apply an operation says so. The origin does not wait for what does not
// come, and does not take the operation for done; another channel works on.
func TestRefusedOperations(t *testing.T) {
	opAdd := Numbers().Ops[4]
	for _, op := range []struct {
		name string
		run  func(ctx context.Context, c *Channel) error
	}{
		{"fetch of an unaligned word", func(ctx context.Context, c *Channel) error {
			_, err := c.Fetch(ctx, 1, opAdd, 4097, 8, 1, 0)
			return err
		}},
		{"fetch of 4 bytes that are not aligned", func(ctx context.Context, c *Channel) error {
			_, err := c.Fetch(ctx, 1, opAdd, 4098, 4, 1, 0)
			return err
		}},
		{"fetch of a word behind the heap", func(ctx context.Context, c *Channel) error {
			_, err := c.Fetch(ctx, 1, opAdd, 1<<20, 8, 1, 0)
			return err
		}},
		{"update of an unaligned word", func(ctx context.Context, c *Channel) error {
			c.Post(1, opAdd, 4100, 8, 1)
			return c.Quiet(ctx, -1)
		}},
		{"signal that is not aligned", func(ctx context.Context, c *Channel) error {
			c.PutSignal(1, 4096, []byte("payload"), 4100, wordSet, 7)
			return c.Quiet(ctx, 1)
		}},
		{"put behind the heap", func(ctx context.Context, c *Channel) error {
			c.Put(1, 1<<20-4, make([]byte, 8))
			return c.Quiet(ctx, -1)
		}},
		{"get from behind the heap", func(ctx context.Context, c *Channel) error {
			return c.Get(ctx, 1, make([]byte, 8), 1<<20-4)
		}},
	} {
		t.Run(op.name, func(t *testing.T) {
			a, b, c := pair(t, false, 0)
			ctx, cancel := hang.Context(t.Context())
			defer cancel()
			var lost *LostError
			if err := op.run(ctx, c); !errors.As(err, &lost) || lost.PE != 1 || lost.Reason != Refused {
				t.Fatalf("the origin has the error %v, want that PE 1 refused", err)
			}
			if b.rejected() == 0 || a.Lost() != nil {
				t.Fatalf("%d records rejected; PE 1 is taken for lost: %v", b.rejected(), a.Lost())
			}
			other, err := a.Channel(false, func(pe int) []byte { return [][]byte{a.Address(), b.Address()}[pe] })
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Fetch(ctx, 1, opAdd, 4096, 8, 1, 0); err != nil {
				t.Fatalf("another channel: %v", err)
			}
		})
	}
}
