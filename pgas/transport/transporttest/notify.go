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

// testNoteFollows checks that a PE that has a note sees the effect of its access.
func testNoteFollows(t *testing.T, r *Rig) {
	ch := channel(t, r, 0, false)
	word := transport.Word{Off: base, Bytes: 8}
	expect := func(tag uint32, n int, off uint64) {
		t.Helper()
		want := transport.Note{Stamp: transport.StampOf(0, tag), Bytes: uint64(n), Off: off}
		if got := awaitNote(t, r, 1); got != want {
			t.Fatalf("the note is %+v, want %+v", got, want)
		}
	}
	for i, n := range sizes {
		tag, at := uint32(i)<<26|uint32(n), uint64(base+64+i%5)
		if int(at)+n > len(r.Heaps[1]) {
			continue
		}
		dst := r.Heaps[1][at : int(at)+n]
		for way, put := range []func([]byte) bool{
			func(src []byte) bool { return ch.PutNotify(1, at, src, transport.StampOf(0, tag)) },
			func(src []byte) bool {
				handle, ok := putNotifyZcopy(ch, 1, at, src, transport.StampOf(0, tag))
				if putter, zeroCopy := ch.(transport.ZeroCopyPutter); zeroCopy && handle != 0 {
					if err := putter.AwaitReleased(bounded(t), 1, handle); err != nil {
						t.Fatal(err)
					}
				}
				return ok
			},
		} {
			src := pattern(n, byte(3*i+way))
			if !put(slices.Clone(src)) {
				t.Fatal("there is no room for one note")
			}
			expect(tag, n, at)
			if !bytes.Equal(dst, src) {
				t.Fatalf("way %d: the note came before its %d bytes: they differ from byte %d on", way, n, firstDifference(dst, src))
			}
		}
		for _, waits := range []bool{true, false} {
			src, got := pattern(n, byte(i+5)), make([]byte, n)
			copy(dst, src)
			if waits {
				if ok, err := ch.GetNotify(bounded(t), 1, got, at, transport.StampOf(0, tag)); !ok || err != nil {
					t.Fatal(ok, err)
				}
			} else if !ch.GetNotifyNB(1, got, at, transport.StampOf(0, tag)) {
				t.Fatal("there is no room for one note")
			}
			expect(tag, n, at)
			clear(dst) // its owner may reuse it
			quiet(t, ch)
			if !bytes.Equal(got, src) {
				t.Fatalf("the note of a get came before its %d bytes were read: they differ from byte %d on (it waits: %v)", n, firstDifference(got, src), waits)
			}
		}
	}
	ch.Post(1, transport.Set, word, 10)
	quiet(t, ch)
	for i := range uint64(50) {
		old, ok, err := ch.AtomicNotify(bounded(t), 1, transport.Add, word, 1, 0, transport.StampOf(0, uint32(i)))
		if old != 10+2*i || !ok || err != nil {
			t.Fatalf("notified add %d returned %d, %v, %v", i, old, ok, err)
		}
		expect(uint32(i), 8, base)
		if !ch.PostNotify(1, transport.Add, word, 1, transport.StampOf(0, uint32(i))) {
			t.Fatal("there is no room for one note")
		}
		expect(uint32(i), 8, base)
		if v := r.Words(r.Heaps[1], word); v != 12+2*i {
			t.Fatalf("the note of an atomic came before it: the word is %d, want %d", v, 12+2*i)
		}
	}
	quiet(t, ch)
	noNote(t, r, 1)
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

// testRandomNotes issues random accesses, with and without notes, on two channels to every PE, and compares
// heaps and notes with twins. It fences before each, since they overlap.
func testRandomNotes(t *testing.T, r *Rig) {
	seed := Seed()
	rng := rand.New(rand.NewPCG(seed, 2))
	replay := fmt.Sprintf("replay with: TEST_SEED=%d go test -run '%s'", seed, t.Name())
	ch := channel(t, r, 0, false)
	const span = 1 << 15
	twins := make([][]byte, len(r.PEs))
	due := make([][]transport.Note, len(r.PEs))
	for pe := range twins {
		twins[pe] = make([]byte, span)
		clear(r.Heaps[pe][base : base+span])
	}
	take := func(pe int) {
		if n := awaitNote(t, r, pe); n != due[pe][0] {
			t.Fatalf("PE %d has note %+v, want %+v; %s", pe, n, due[pe][0], replay)
		}
		due[pe] = due[pe][1:]
	}
	for step := range 3000 {
		pe := rng.IntN(len(r.PEs))
		ch.Fence(pe)
		tag := rng.Uint32() >> 1
		s := transport.StampOf(0, tag)
		n := rng.IntN(1 << rng.IntN(14))
		at := rng.IntN(span - n)
		note := transport.Note{Stamp: s, Bytes: uint64(n), Off: uint64(base + at)}
		ok := true
		switch kind := rng.IntN(8); kind {
		case 0, 1, 2:
			src := pattern(n, byte(step))
			ok = ch.PutNotify(pe, note.Off, src, s)
			copy(twins[pe][at:], src)
		case 3:
			got := make([]byte, n)
			quiet(t, ch)
			var err error
			if ok, err = ch.GetNotify(bounded(t), pe, got, note.Off, s); err != nil {
				t.Fatalf("%v; %s", err, replay)
			}
			if !bytes.Equal(got, twins[pe][at:at+n]) {
				t.Fatalf("step %d: a notified get of %d bytes differs from byte %d on; %s", step, n, firstDifference(got, twins[pe][at:at+n]), replay)
			}
		case 4, 5:
			at &^= 7
			w := transport.Word{Off: uint64(base + at), Bytes: 8}
			old, v := binary.NativeEndian.Uint64(twins[pe][at:]), rng.Uint64()
			note.Bytes, note.Off = 8, w.Off
			binary.NativeEndian.PutUint64(twins[pe][at:], old+v)
			if kind == 5 {
				ok = ch.PostNotify(pe, transport.Add, w, v, s)
				break
			}
			got, room, err := ch.AtomicNotify(bounded(t), pe, transport.Add, w, v, 0, s)
			if ok = room; err != nil || got != old {
				t.Fatalf("a notified add returned %#x, %v, want %#x; %s", got, err, old, replay)
			}
		case 6:
			src := pattern(n, byte(step))
			ch.Put(pe, note.Off, src)
			copy(twins[pe][at:], src)
			continue
		case 7:
			if len(due[pe]) > 0 {
				take(pe)
			}
			continue
		}
		if !ok {
			t.Fatalf("there is no room for %d notes; %s", len(due[pe])+1, replay)
		}
		if due[pe] = append(due[pe], note); len(due[pe]) > 400 {
			take(pe)
		}
	}
	quiet(t, ch)
	for pe := range twins {
		if got := r.Heaps[pe][base : base+span]; !bytes.Equal(got, twins[pe]) {
			t.Fatalf("PE %d differs from its twin from byte %d on; %s", pe, firstDifference(got, twins[pe]), replay)
		}
		for len(due[pe]) > 0 {
			take(pe)
		}
		noNote(t, r, pe)
	}
}
