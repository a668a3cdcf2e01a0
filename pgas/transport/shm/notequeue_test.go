package shm_test

import (
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

const freeOff = boot.NoteQueueOff + boot.NoteQueueBytes

func openPEs(npes int) (*shm.Transport, *boot.Segment) {
	seg := boot.NewSegment(npes, npes, 1<<20)
	return shm.Open(seg), seg
}

func mustTake(t *testing.T, r *shm.NoteQueue) transport.Note {
	t.Helper()
	var n transport.Note
	if !r.TakeOne(&n) {
		t.Fatal("there is no note")
	}
	return n
}

// TestPutsAreInPlace checks that data has reached its destination before its note is taken, and that a later store to
// the destination stays, with or without a fence between the two.
func TestPutsAreInPlace(t *testing.T) {
	tr, seg := openPEs(1)
	ch, r, heap := tr.Open(), tr.NoteQueue(0), seg.Heap(0)
	for _, n := range []int{1, 7, 8, 9, 39, 40, 41, 64, 65, 300} {
		for _, at := range []int{freeOff, freeOff + 3} {
			clear(heap[freeOff : freeOff+600])
			src := make([]byte, n)
			for i := range src {
				src[i] = byte(i + n)
			}
			if !ch.PutNotify(0, uint64(at), src, transport.StampOf(0, uint32(n))) {
				t.Fatal("an empty queue is full")
			}
			if string(heap[at:at+n]) != string(src) || heap[at-1] != 0 || heap[at+n] != 0 {
				t.Fatalf("a put of %d bytes is not in its place: %v", n, heap[at-1:at+n+1])
			}
			heap[at] = 99
			note := mustTake(t, r)
			if note != (transport.Note{Stamp: transport.StampOf(0, uint32(n)), Bytes: uint64(n), Off: uint64(at)}) {
				t.Fatalf("the note of %d bytes is %+v", n, note)
			}
			if heap[at] != 99 || string(heap[at+1:at+n]) != string(src[1:]) {
				t.Fatalf("%d bytes: taking the note changed the heap: %v", n, heap[at:at+n])
			}
			if r.TakeOne(&note) {
				t.Fatal("one note was taken twice")
			}
		}
	}
}

// TestNoteQueueFull checks that no note is lost, that a full queue accepts none, and that its owner is asked for room.
func TestNoteQueueFull(t *testing.T) {
	tr, _ := openPEs(2)
	ch, r := tr.Open(), tr.NoteQueue(1)
	for round := range 3 {
		for i := range shm.NoteQueueCap {
			if !ch.PutNotify(1, freeOff, []byte{1}, transport.StampOf(0, uint32(i))) {
				t.Fatalf("round %d: note %d finds no room", round, i)
			}
		}
		at := transport.Word{Off: freeOff + 8, Bytes: 8}
		ok1 := ch.PutNotify(1, freeOff, []byte{1}, 0) || ch.PutNotify(1, freeOff, nil, 0) || ch.PutNotify(1, freeOff, make([]byte, 100), 0)
		ok2 := ch.GetNotifyNB(1, make([]byte, 1), freeOff, 0) || ch.PostNotify(1, transport.Add, at, 1, 0)
		if ok1 || ok2 || !r.SpaceRequested() {
			t.Fatal("a full queue took a note, or its owner was not asked for room")
		}
		if v := shm.Load(tr.Heap(1), at); v != 0 {
			t.Fatal("an atomic without a note was applied")
		}
		r.ClearRequest()
		for i := range shm.NoteQueueCap {
			if n := mustTake(t, r); n.Tag() != uint32(i) {
				t.Fatalf("note %d has tag %d", i, n.Tag())
			}
		}
	}
}

// TestManyInitiators checks that the owner sees the notes of each initiator in order, and that the last put of each
// stays. The initiators are goroutines that push and fence at random, each in its own cells.
func TestManyInitiators(t *testing.T) {
	const npes, notes = 4, 3000
	tr, seg := openPEs(npes)
	heap := seg.Heap(0)
	cell := func(pe, k int) uint64 { return uint64(freeOff + 256*pe + 64*k) }
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
	r, next := tr.NoteQueue(0), [npes]uint32{}
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

// TestStoreAgainstTake checks that a notified put does not overwrite a later store of its initiator, while the owner
// takes notes.
func TestStoreAgainstTake(t *testing.T) {
	rounds := 200_000
	if testing.Short() {
		rounds = 5_000
	}
	tr, seg := openPEs(2)
	heap := seg.Heap(1)
	word := transport.Word{Off: freeOff, Bytes: 8}
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		r := tr.NoteQueue(1)
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
		if v := shm.Load(heap, word); v != 2*i+1 {
			t.Fatalf("round %d: a notified put is not seen by its initiator: %d", i, v)
		}
		ch.Post(1, transport.Set, word, 2*i+2)
		if i%64 == 0 {
			runtime.Gosched()
		}
		if v := shm.Load(heap, word); v != 2*i+2 {
			t.Fatalf("round %d: the put before the store came after it: %d", i, v)
		}
	}
	stop.Store(true)
	wg.Wait()
}
