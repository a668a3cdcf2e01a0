//go:build cgo

package ucp

import (
	"reflect"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
	"github.com/gopgas/gopgas/ucx/engine"
)

// The engine's C and Go have numbers and layouts in common that no compiler compares: each is written in both. These
// tests fail if one side changes alone.

// TestNumbersOfC compares operations, comparisons, and the ways of remote memory access.
func TestNumbersOfC(t *testing.T) {
	c := engine.Numbers()
	ops := []transport.Op{
		transport.Fetch, transport.Set, transport.Swap, transport.CompareSwap, transport.Add, transport.And, transport.Or, transport.Xor,
		transport.Min, transport.Max, transport.MinUnsigned, transport.MaxUnsigned, transport.AddFloat, transport.MinFloat, transport.MaxFloat,
		transport.NumOps,
	}
	if len(c.Ops) != len(ops) {
		t.Fatalf("C has %d operations, Go %d", len(c.Ops)-1, len(ops)-1)
	}
	for i, op := range ops {
		if c.Ops[i] != uint8(op) {
			t.Errorf("operation %d of Go is %d in C", op, c.Ops[i])
		}
	}
	for i, cmp := range []transport.Cmp{transport.EQ, transport.NE, transport.GT, transport.GE, transport.LT, transport.LE} {
		if c.Comparisons[i] != int(cmp) {
			t.Errorf("comparison %v of Go is %d, in C %d", cmp, cmp, c.Comparisons[i])
		}
	}
	for i, way := range []engine.RMA{engine.Auto, engine.AM, engine.Native} {
		if c.RMA[i] != way {
			t.Errorf("RMA %d of Go is %d in C", way, c.RMA[i])
		}
	}
}

// TestWordsOfC compares the sizes of the words of the host segment that C reads and writes.
func TestWordsOfC(t *testing.T) {
	c := engine.Numbers()
	state, header := reflect.TypeFor[boot.State](), reflect.TypeFor[boot.Header]()
	for _, word := range []struct {
		in   reflect.Type
		name string
		c    uintptr
	}{
		{state, "Waiting", c.WaitingBytes},
		{state, "Doorbell", c.DoorbellBytes},
		{header, "Failed", c.FailedBytes},
		{header, "Accused", c.AccusedBytes},
		{header, "AccusedBell", c.BellBytes},
	} {
		if f, ok := word.in.FieldByName(word.name); !ok || f.Type.Size() != word.c {
			t.Errorf("%v.%s has %d bytes, in C %d", word.in, word.name, f.Type.Size(), word.c)
		}
	}
	if c.KeyBytes != engine.KeyBytes {
		t.Errorf("a key has %d bytes, in C %d", engine.KeyBytes, c.KeyBytes)
	}
}

// TestBlockedOfC compares the layout of what C publishes for a thread that waits for long.
func TestBlockedOfC(t *testing.T) {
	goes, c := reflect.TypeFor[boot.Blocked](), engine.Numbers()
	for i, name := range []string{"Op", "Peer", "Seq", "Since", "Team"} {
		if f, ok := goes.FieldByName(name); !ok || f.Offset != c.BlockedOffsets[i] {
			t.Errorf("boot.Blocked.%s is at %d, in C at %d", name, f.Offset, c.BlockedOffsets[i])
		}
	}
}

// TestContentionOfC compares the layout of what waiters know of other load, and the rules by which they use it.
func TestContentionOfC(t *testing.T) {
	goes, c := reflect.TypeFor[boot.Contention](), engine.Numbers()
	for i, name := range []string{"until", "span", "ended", "clean", "lost"} {
		if f, ok := goes.FieldByName(name); !ok || f.Offset != c.ContentionOffsets[i] {
			t.Errorf("boot.Contention.%s is at %d, in C at %d", name, f.Offset, c.ContentionOffsets[i])
		}
	}
	if rules := boot.ContentionRules(); rules != c.ContentionRules {
		t.Errorf("the rules of waiters are %d in Go, %d in C", rules, c.ContentionRules)
	}
}

// TestWatchedOfC checks that C takes the codes of State.Waiting for what boot means by them.
func TestWatchedOfC(t *testing.T) {
	const all = ^uint64(0)
	if _, _, sleeps := engine.Watched(0); sleeps {
		t.Error("0 is a PE that is awake, and C rings it")
	}
	for _, w := range []struct{ code, lo, hi uint64 }{
		{boot.AnyWord, 0, all},
		{boot.WatchWord(4096), 4096, 4104},
		{boot.WatchWord(4100), 4096, 4104},
		{boot.WatchRange(4096, 4112), 4096, 4160},
		{boot.WatchRange(4096, 4608), 4096, 4608},
		{boot.WatchRange(1<<20, 1<<20+4096), 1 << 20, 1<<20 + 4096},
		{boot.WatchRange(1<<20, 1<<20+4097), 1 << 20, 1<<20 + 1<<15},
		{boot.WatchRange(2<<20, 4<<20), 2 << 20, 4 << 20},
		{boot.WatchRange(1<<20, 4<<20), 0, all},
	} {
		if lo, hi, sleeps := engine.Watched(w.code); !sleeps || lo != w.lo || hi != w.hi {
			t.Errorf("waiting %#x is bytes %#x to %#x, C takes it for %#x to %#x (sleeps: %v)", w.code, w.lo, w.hi, lo, hi, sleeps)
		}
	}
}

// TestAccusationOfC checks that boot reads what C writes to accuse a PE.
func TestAccusationOfC(t *testing.T) {
	for _, want := range []boot.Accusation{
		{PE: 0, By: 1},
		{PE: 1<<20 - 1, By: 5, Silent: true},
		{PE: 7, By: 1<<20 - 1, Certain: true},
		{PE: 3, By: 4, Certain: true, Silent: true},
		{PE: 3, By: 4, Silent: true, LargeLost: true},
	} {
		seg := boot.NewSegment(1, 2, 8<<20)
		seg.Header.Accused.Store(engine.Accusation(want.PE, want.By, want.Certain, want.Silent, want.LargeLost))
		if got, _ := seg.AwaitAccusation(0); got != want {
			t.Errorf("C accuses %+v, boot reads %+v", want, got)
		}
	}
}

// TestNoteQueueOfC checks that the owner of a queue takes the notes that C appends, and that both mean the same by a
// full queue, by notes that wait, and by a request for space.
func TestNoteQueueOfC(t *testing.T) {
	seg := boot.NewSegment(1, 2, 8<<20)
	heap := seg.Heap(0)
	q := shm.NewNoteQueue(heap, seg.States[0])
	note := func(i uint64) transport.Note {
		return transport.Note{Stamp: transport.StampOf(3, uint32(i)), Bytes: 1000 + i, Off: 1 << 20 * i}
	}
	push := func(i uint64) uint64 {
		return engine.PushNote(heap, boot.NoteQueueOff, engine.Stamp(uint32(i), 3), note(i).Bytes, note(i).Off)
	}
	next := uint64(0)
	for lap := range 2 {
		for i := range uint64(shm.NoteQueueCap) {
			if word, _ := shm.ArrivalWord(next + i); push(i) != word.Off {
				t.Fatalf("lap %d: note %d of C is not where its owner waits for it", lap, i)
			}
		}
		if push(0) != 0 {
			t.Fatalf("lap %d: C finds room in a queue of %d notes that holds as many", lap, shm.NoteQueueCap)
		}
		for i := range uint64(shm.NoteQueueCap) {
			var got transport.Note
			if !q.TakeOne(&got) || got != note(i) {
				t.Fatalf("lap %d: C leaves %+v, its owner takes %+v", lap, note(i), got)
			}
		}
		next += shm.NoteQueueCap
	}
	if woken := engine.PublishOverflow(heap, boot.NoteQueueOff, 1); woken || !q.Overflowed() || q.SpaceRequested() {
		t.Errorf("one note waits: woken %v, overflowed %v, space requested %v", woken, q.Overflowed(), q.SpaceRequested())
	}
	if woken := engine.PublishOverflow(heap, boot.NoteQueueOff, 1000); !woken || !q.Overflowed() || !q.SpaceRequested() {
		t.Errorf("many notes wait: woken %v, overflowed %v, space requested %v", woken, q.Overflowed(), q.SpaceRequested())
	}
	q.ClearRequest()
	if woken := engine.PublishOverflow(heap, boot.NoteQueueOff, 0); woken || q.Overflowed() || q.SpaceRequested() {
		t.Errorf("no note waits: woken %v, overflowed %v, space requested %v", woken, q.Overflowed(), q.SpaceRequested())
	}
}
