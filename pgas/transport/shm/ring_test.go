package shm_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

const ringBase = 64 << 10

func ringOf(npes int) (*shm.Transport, *boot.Segment) {
	seg := boot.NewSegment(npes, npes, 1<<20)
	return shm.Open(seg), seg
}

func mustTake(t *testing.T, r *shm.Ring) transport.Note {
	t.Helper()
	var n transport.Note
	if !r.TakeOne(&n) {
		t.Fatal("there is no note")
	}
	return n
}

// TestInlineLandsLate: a short put is in its note until that is taken, or until its channel is quiet.
func TestInlineLandsLate(t *testing.T) {
	tr, seg := ringOf(1)
	ch, r, heap := tr.Open(), tr.Ring(0), seg.Heap(0)
	for _, n := range []int{1, 7, 8, 9, 39, shm.InlineBytes, shm.InlineBytes + 1, 300} {
		for _, way := range []string{"taken", "fence", "quiet", "another"} {
			clear(heap[ringBase : ringBase+600])
			src := make([]byte, n)
			for i := range src {
				src[i] = byte(i + n)
			}
			if !ch.PutNotify(0, ringBase+3, src, transport.StampOf(0, uint32(n))) {
				t.Fatal("an empty ring is full")
			}
			late := heap[ringBase+3] == 0
			if late != (n <= shm.InlineBytes) {
				t.Fatalf("a put of %d bytes: late is %v", n, late)
			}
			switch way {
			case "fence":
				ch.Fence(0)
			case "quiet":
				ch.Quiet(context.Background(), -1)
			case "another": // a put that does not fit a note comes after those that do
				ch.PutNotify(0, ringBase+400, make([]byte, 100), 0)
			}
			want := byte(n)
			if way != "taken" {
				if heap[ringBase+3] != want {
					t.Fatalf("a put of %d bytes has not landed after a %s", n, way)
				}
				heap[ringBase+3] = 99 // what comes after the fence must stay
				want = 99
			}
			note := mustTake(t, r)
			if note != (transport.Note{Stamp: transport.StampOf(0, uint32(n)), Bytes: uint64(n), Off: ringBase + 3}) {
				t.Fatalf("the note of %d bytes is %+v", n, note)
			}
			if heap[ringBase+3] != want || string(heap[ringBase+4:ringBase+3+n]) != string(src[1:]) || heap[ringBase+3+n] != 0 {
				t.Fatalf("%d bytes, %s: the heap holds %v", n, way, heap[ringBase+3:ringBase+4+n])
			}
			if way == "another" {
				mustTake(t, r)
			}
			if r.TakeOne(&note) {
				t.Fatal("one note was taken twice")
			}
		}
	}
}

// TestRingFillsUp: no note is lost, none is accepted that has no room, and the owner is asked for some.
func TestRingFillsUp(t *testing.T) {
	tr, _ := ringOf(2)
	ch, r := tr.Open(), tr.Ring(1)
	for round := range 3 {
		for i := range shm.RingNotes {
			if !ch.PutNotify(1, ringBase, []byte{1}, transport.StampOf(0, uint32(i))) {
				t.Fatalf("round %d: note %d finds no room", round, i)
			}
		}
		at := transport.Word{Off: ringBase + 8, Bytes: 8}
		ok1 := ch.PutNotify(1, ringBase, []byte{1}, 0) || ch.PutNotify(1, ringBase, nil, 0) || ch.PutNotify(1, ringBase, make([]byte, 100), 0)
		ok2 := ch.GetNotifyNB(1, make([]byte, 1), ringBase, 0) || ch.PostNotify(1, transport.Add, at, 1, 0)
		if ok1 || ok2 || !r.Wanted() {
			t.Fatal("a full ring took a note, or nobody was asked for room")
		}
		if v := shm.Load(tr.Heap(1), at); v != 0 {
			t.Fatal("an atomic without a note was applied")
		}
		r.Answer()
		for i := range shm.RingNotes {
			if n := mustTake(t, r); n.Tag() != uint32(i) {
				t.Fatalf("note %d has tag %d", i, n.Tag())
			}
		}
	}
}

// TestRingOfMany: goroutines of several PEs push and fence at random, each in its own cells; the owner sees
// each one's notes in order, each with the data it tells of, and nothing that was put after a fence is
// undone by a late copy.
func TestRingOfMany(t *testing.T) {
	const npes, notes = 4, 3000
	tr, seg := ringOf(npes)
	heap := seg.Heap(0)
	cell := func(pe, k int) uint64 { return uint64(ringBase + 256*pe + 64*k) }
	var wg sync.WaitGroup
	for pe := 1; pe < npes; pe++ {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(pe), 7))
			ch := tr.Open()
			word := make([]byte, 8)
			for i := range uint64(notes) {
				binary.NativeEndian.PutUint64(word, i)
				for !ch.PutNotify(0, cell(pe, 0), word, transport.StampOf(pe, uint32(i))) {
					runtime.Gosched()
				}
				if rng.IntN(3) == 0 {
					ch.Fence(0)
					ch.Post(0, transport.Set, transport.Word{Off: cell(pe, 1), Bytes: 8}, i)
				}
			}
			ch.Quiet(t.Context(), 0)
		})
	}
	r, next := tr.Ring(0), [npes]uint32{}
	for taken := 0; taken < (npes-1)*notes; {
		var n transport.Note
		if !r.TakeOne(&n) {
			runtime.Gosched()
			continue
		}
		taken++
		if pe := n.Source(); n.Tag() != next[pe] {
			t.Fatalf("note %d of PE %d came when %d was due", n.Tag(), pe, next[pe])
		}
		next[n.Source()]++
	}
	wg.Wait()
	for pe := 1; pe < npes; pe++ {
		if v := binary.NativeEndian.Uint64(heap[cell(pe, 0):]); v != notes-1 {
			t.Fatalf("PE %d's last put was overwritten by %d", pe, v)
		}
	}
}

// TestLandAgainstTake: whatever the owner does meanwhile, what a PE stores after a fence is not overwritten
// by the put before it.
func TestLandAgainstTake(t *testing.T) {
	rounds := 200_000
	if testing.Short() {
		rounds = 5_000
	}
	tr, seg := ringOf(2)
	heap := seg.Heap(1)
	word := transport.Word{Off: ringBase, Bytes: 8}
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		r := tr.Ring(1)
		for n := (transport.Note{}); !stop.Load(); {
			if !r.TakeOne(&n) {
				runtime.Gosched()
			}
		}
	})
	ch, old := tr.Open(), make([]byte, 8)
	for i := range uint64(rounds) {
		binary.NativeEndian.PutUint64(old, 2*i+1)
		for !ch.PutNotify(1, word.Off, old, 0) {
			runtime.Gosched()
		}
		if i%64 == 0 {
			runtime.Gosched()
		}
		ch.Fence(1)
		ch.Post(1, transport.Set, word, 2*i+2)
		if v := shm.Load(heap, word); v != 2*i+2 {
			t.Fatalf("round %d: a put before the fence came after it: %d", i, v)
		}
	}
	stop.Store(true)
	wg.Wait()
}
