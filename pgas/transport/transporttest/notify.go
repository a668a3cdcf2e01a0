package transporttest

// Notified accesses, against a twin: the notes that must have arrived, in the order in which they were issued, each
// with the effect of its access.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/transport"
)

// queueNotes is more notes than any queue takes without its owner's help.
const queueNotes = 20_000

// putNotifyZcopy calls PutNotifyZcopy of a ZeroCopyPutter, and PutNotify of any other channel.
func putNotifyZcopy(ch transport.Channel, pe int, dst uint64, src []byte, s transport.Stamp) (handle uint64, ok bool) {
	if putter, zeroCopy := ch.(transport.ZeroCopyPutter); zeroCopy {
		return putter.PutNotifyZcopy(pe, dst, src, s)
	}
	return 0, ch.PutNotify(pe, dst, src, s)
}

// awaitNote takes the next note of pe. It makes progress while there is none.
func awaitNote(t *testing.T, r *Rig, pe int) transport.Note {
	t.Helper()
	var n transport.Note
	waiter, drives := r.PEs[pe].(transport.Progresser)
	for limit := bounded(t); !r.Take(pe, &n); {
		if limit.Err() != nil {
			t.Fatalf("PE %d: a note does not come", pe)
		}
		if drives {
			waiter.WaitWord(transport.Word{Off: base - 8, Bytes: 8}, transport.EQ, 1, false, 20*time.Microsecond)
		} else {
			time.Sleep(10 * time.Microsecond)
		}
	}
	return n
}

// noNote fails if pe has a note.
func noNote(t *testing.T, r *Rig, pe int) {
	t.Helper()
	if n := (transport.Note{}); r.Take(pe, &n) {
		t.Fatalf("PE %d has a note that no PE sent: %+v", pe, n)
	}
}

// A noteChecker has PE 0 issue notified accesses to PE 1, and checks what PE 1 sees.
type noteChecker struct {
	t    *testing.T
	r    *Rig
	ch   transport.Channel
	word transport.Word
}

// testNoteFollows checks that a PE that has a note sees the effect of its access.
func testNoteFollows(t *testing.T, r *Rig) {
	c := noteChecker{t, r, channel(t, r, 0, false), transport.Word{Off: base, Bytes: 8}}
	for i, n := range sizes {
		tag, at := uint32(i)<<26|uint32(n), uint64(base+64+i%5)
		if int(at)+n > len(r.Heaps[1]) {
			continue
		}
		dst := r.Heaps[1][at : int(at)+n]
		for way, put := range c.puts(at, tag) {
			c.put(put, dst, at, tag, pattern(n, byte(3*i+way)), way)
		}
		for _, waits := range []bool{true, false} {
			c.get(dst, at, tag, pattern(n, byte(i+5)), waits)
		}
	}
	c.atomics()
	quiet(t, c.ch)
	noNote(t, r, 1)
}

// expect fails unless the next note of PE 1 is of n bytes at off, with that tag.
func (c noteChecker) expect(tag uint32, n int, off uint64) {
	c.t.Helper()
	want := transport.Note{Stamp: transport.StampOf(0, tag), Bytes: uint64(n), Off: off}
	if got := awaitNote(c.t, c.r, 1); got != want {
		c.t.Fatalf("the note is %+v, want %+v", got, want)
	}
}

// puts returns the ways to put bytes at a place with a note.
func (c noteChecker) puts(at uint64, tag uint32) []func([]byte) bool {
	return []func([]byte) bool{
		func(src []byte) bool { return c.ch.PutNotify(1, at, src, transport.StampOf(0, tag)) },
		func(src []byte) bool {
			handle, ok := putNotifyZcopy(c.ch, 1, at, src, transport.StampOf(0, tag))
			if putter, zeroCopy := c.ch.(transport.ZeroCopyPutter); zeroCopy && handle != 0 {
				if err := putter.AwaitReleased(bounded(c.t), 1, handle); err != nil {
					c.t.Fatal(err)
				}
			}
			return ok
		},
	}
}

// put puts src at a place, which is dst, and checks that the note comes after it.
func (c noteChecker) put(put func([]byte) bool, dst []byte, at uint64, tag uint32, src []byte, way int) {
	c.t.Helper()
	if !put(slices.Clone(src)) {
		c.t.Fatal("there is no room for one note")
	}
	c.expect(tag, len(src), at)
	if !bytes.Equal(dst, src) {
		c.t.Fatalf("way %d: the note came before its %d bytes: they differ from byte %d on", way, len(src), firstDifference(dst, src))
	}
}

// get reads src, which it stores at a place first, that is dst, and checks that the note comes when the place is free.
func (c noteChecker) get(dst []byte, at uint64, tag uint32, src []byte, waits bool) {
	c.t.Helper()
	got := make([]byte, len(src))
	copy(dst, src)
	if waits {
		if ok, err := c.ch.GetNotify(bounded(c.t), 1, got, at, transport.StampOf(0, tag)); !ok || err != nil {
			c.t.Fatal(ok, err)
		}
	} else if !c.ch.GetNotifyNB(1, got, at, transport.StampOf(0, tag)) {
		c.t.Fatal("there is no room for one note")
	}
	c.expect(tag, len(src), at)
	clear(dst) // its owner may reuse it
	quiet(c.t, c.ch)
	if !bytes.Equal(got, src) {
		c.t.Fatalf("the note of a get came before its %d bytes were read: they differ from byte %d on (it waits: %v)", len(src), firstDifference(got, src), waits)
	}
}

// atomics checks that the notes of additions come after them.
func (c noteChecker) atomics() {
	c.t.Helper()
	c.ch.Post(1, transport.Set, c.word, 10)
	quiet(c.t, c.ch)
	for i := range uint64(50) {
		old, ok, err := c.ch.AtomicNotify(bounded(c.t), 1, transport.Add, c.word, 1, 0, transport.StampOf(0, uint32(i)))
		if old != 10+2*i || !ok || err != nil {
			c.t.Fatalf("notified add %d returned %d, %v, %v", i, old, ok, err)
		}
		c.expect(uint32(i), 8, base)
		if !c.ch.PostNotify(1, transport.Add, c.word, 1, transport.StampOf(0, uint32(i))) {
			c.t.Fatal("there is no room for one note")
		}
		c.expect(uint32(i), 8, base)
		if v := c.r.Words(c.r.Heaps[1], c.word); v != 12+2*i {
			c.t.Fatalf("the note of an atomic came before it: the word is %d, want %d", v, 12+2*i)
		}
	}
}

// testNotesInQueue checks that the notes and data of accesses that a quiet has completed are at the target, although
// the target has not read its queue.
func testNotesInQueue(t *testing.T, r *Rig) {
	ch := channel(t, r, 0, true)
	for round := range 30 {
		var lengths []int
		for i := range 1 + round*3 {
			n := []int{0, 1, 8, 40, 41, 500, 9000}[(i+round)%7]
			lengths = append(lengths, n)
			src := pattern(n, byte(i))
			if !ch.PutNotify(1, uint64(base+i*9000), src, transport.StampOf(0, uint32(i))) {
				t.Fatal("there is no room")
			}
		}
		if err := ch.Quiet(bounded(t), 1); err != nil {
			t.Fatal(err)
		}
		for i, n := range lengths {
			if dst := r.Heaps[1][base+i*9000:][:n]; !bytes.Equal(dst, pattern(n, byte(i))) {
				t.Fatalf("notified put %d of %d bytes is not in place after a quiet", i, n)
			}
			var note transport.Note
			if !r.Take(1, &note) || note.Tag() != uint32(i) || note.Bytes != uint64(n) {
				t.Fatalf("note %d of %d is not in the queue after a quiet, or another is: %+v", i, len(lengths), note)
			}
		}
		noNote(t, r, 1)
	}
}

// testNotifyFence checks that a fence orders notified accesses against accesses without a note, both ways.
func testNotifyFence(t *testing.T, r *Rig) {
	ch := channel(t, r, 0, false)
	for i, n := range []int{8, 1, 40, 4096, 8, 100_000, 16, 40, 1 << 20, 8} {
		src, later := pattern(n, byte(i)), pattern(n, byte(i+100))
		ch.Put(1, base, src)
		ch.Fence(1)
		if !ch.PutNotify(1, 0, nil, transport.StampOf(0, uint32(i))) {
			t.Fatal("there is no room")
		}
		if got := awaitNote(t, r, 1); got.Tag() != uint32(i) || !bytes.Equal(r.Heaps[1][base:base+n], src) {
			t.Fatalf("a note overtook a put of %d bytes", n)
		}
		ch.PutNotify(1, base, src, 0)
		ch.Fence([]int{1, -1}[i%2])
		ch.Put(1, base, later)
		quiet(t, ch)
		awaitNote(t, r, 1)
		if !bytes.Equal(r.Heaps[1][base:base+n], later) {
			t.Fatalf("a notified put of %d bytes came after the put behind the fence", n)
		}
	}
}

// testFullQueues checks two PEs that send each other more notes than their queues hold, and take notes only when they
// find no room: no note is lost, the notes stay in order, and all other operations go on meanwhile.
func testFullQueues(t *testing.T, r *Rig) {
	chs := []transport.Channel{channel(t, r, 0, false), channel(t, r, 1, false)}
	var next, taken [2]uint32
	word := transport.Word{Off: base, Bytes: 8}
	take := func(pe int) {
		for n := (transport.Note{}); r.Take(pe, &n); taken[pe]++ {
			if n.Source() != 1-pe || n.Tag() != taken[pe] {
				t.Fatalf("PE %d: note %d is %+v", pe, taken[pe], n)
			}
		}
	}
	refused := 0
	for next[0] < queueNotes || next[1] < queueNotes {
		for pe, ch := range chs {
			for k := 0; k < 700 && next[pe] < queueNotes; k++ {
				src := pattern(int(next[pe]%50), 1)
				if !ch.PutNotify(1-pe, uint64(base+64), src, transport.StampOf(pe, next[pe])) {
					refused++
					old, err := ch.Atomic(bounded(t), 1-pe, transport.Add, word, 1, 0)
					if err != nil {
						t.Fatalf("with a full queue, an add returned %d, %v", old, err)
					}
					take(pe)
					take(1 - pe)
					break
				}
				next[pe]++
			}
		}
	}
	if refused == 0 {
		t.Fatalf("%d notes found room: queues must be bounded", queueNotes)
	}
	for pe, ch := range chs {
		quiet(t, ch)
		for taken[1-pe] < queueNotes {
			n := awaitNote(t, r, 1-pe)
			if n.Tag() != taken[1-pe] {
				t.Fatalf("PE %d: note %d is %+v", 1-pe, taken[1-pe], n)
			}
			taken[1-pe]++
		}
	}
}

// noteTwins are random accesses of one PE, with and without notes, and what they make of heaps and notes.
type noteTwins struct {
	t      *testing.T
	r      *Rig
	ch     transport.Channel
	rng    *rand.Rand
	replay string
	heaps  [][]byte           // a twin of the first bytes of each heap
	due    [][]transport.Note // the notes that each PE has not taken yet
}

// twinBytes is how much of a heap has a twin.
const twinBytes = 1 << 15

// testRandomNotes issues random accesses, with and without notes, on two channels to every PE, and compares
// heaps and notes with twins. It fences before each, since they overlap.
func testRandomNotes(t *testing.T, r *Rig) {
	seed := Seed()
	w := &noteTwins{
		t: t, r: r, ch: channel(t, r, 0, false), rng: rand.New(rand.NewPCG(seed, 2)),
		replay: fmt.Sprintf("replay with: TEST_SEED=%d go test -run '%s'", seed, t.Name()),
		heaps:  make([][]byte, len(r.PEs)), due: make([][]transport.Note, len(r.PEs)),
	}
	for pe := range w.heaps {
		w.heaps[pe] = make([]byte, twinBytes)
		clear(r.Heaps[pe][base : base+twinBytes])
	}
	for step := range 3000 {
		w.step(step)
	}
	quiet(t, w.ch)
	for pe := range w.heaps {
		if got := r.Heaps[pe][base : base+twinBytes]; !bytes.Equal(got, w.heaps[pe]) {
			t.Fatalf("PE %d differs from its twin from byte %d on; %s", pe, firstDifference(got, w.heaps[pe]), w.replay)
		}
		for len(w.due[pe]) > 0 {
			w.take(pe)
		}
		noNote(t, r, pe)
	}
}

// take takes the next note of pe, and compares it with the one that is due.
func (w *noteTwins) take(pe int) {
	w.t.Helper()
	if n := awaitNote(w.t, w.r, pe); n != w.due[pe][0] {
		w.t.Fatalf("PE %d has note %+v, want %+v; %s", pe, n, w.due[pe][0], w.replay)
	}
	w.due[pe] = w.due[pe][1:]
}

// step issues one random access, or takes a note.
func (w *noteTwins) step(step int) {
	pe := w.rng.IntN(len(w.r.PEs))
	w.ch.Fence(pe)
	s := transport.StampOf(0, w.rng.Uint32()>>1)
	n := w.rng.IntN(1 << w.rng.IntN(14))
	at := w.rng.IntN(twinBytes - n)
	note := transport.Note{Stamp: s, Bytes: uint64(n), Off: uint64(base + at)}
	ok := true
	switch kind := w.rng.IntN(8); kind {
	case 0, 1, 2:
		src := pattern(n, byte(step))
		ok = w.ch.PutNotify(pe, note.Off, src, s)
		copy(w.heaps[pe][at:], src)
	case 3:
		ok = w.get(pe, note, w.heaps[pe][at:at+n], step)
	case 4, 5:
		at &^= 7
		note.Bytes, note.Off = 8, uint64(base+at)
		ok = w.add(pe, note, w.heaps[pe][at:], kind == 4)
	case 6:
		src := pattern(n, byte(step))
		w.ch.Put(pe, note.Off, src)
		copy(w.heaps[pe][at:], src)
		return
	case 7:
		if len(w.due[pe]) > 0 {
			w.take(pe)
		}
		return
	}
	if !ok {
		w.t.Fatalf("there is no room for %d notes; %s", len(w.due[pe])+1, w.replay)
	}
	if w.due[pe] = append(w.due[pe], note); len(w.due[pe]) > 400 {
		w.take(pe)
	}
}

// get reads what note names from pe, and compares it with the twin.
func (w *noteTwins) get(pe int, note transport.Note, twin []byte, step int) (ok bool) {
	got := make([]byte, len(twin))
	quiet(w.t, w.ch)
	ok, err := w.ch.GetNotify(bounded(w.t), pe, got, note.Off, note.Stamp)
	if err != nil {
		w.t.Fatalf("%v; %s", err, w.replay)
	}
	if !bytes.Equal(got, twin) {
		w.t.Fatalf("step %d: a notified get of %d bytes differs from byte %d on; %s", step, len(twin), firstDifference(got, twin), w.replay)
	}
	return ok
}

// add adds a random number to the word that note names and to the twin. If it fetches, it compares the old values.
func (w *noteTwins) add(pe int, note transport.Note, twin []byte, fetches bool) (ok bool) {
	word := transport.Word{Off: note.Off, Bytes: 8}
	old, v := binary.NativeEndian.Uint64(twin), w.rng.Uint64()
	binary.NativeEndian.PutUint64(twin, old+v)
	if !fetches {
		return w.ch.PostNotify(pe, transport.Add, word, v, note.Stamp)
	}
	got, ok, err := w.ch.AtomicNotify(bounded(w.t), pe, transport.Add, word, v, 0, note.Stamp)
	if err != nil || got != old {
		w.t.Fatalf("a notified add returned %#x, %v, want %#x; %s", got, err, old, w.replay)
	}
	return ok
}
