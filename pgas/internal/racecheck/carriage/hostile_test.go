package carriage

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

const forgedHeap = 1 << 30

// isTaken reports whether a decoder takes a record that another process has written.
func isTaken(rec *racecheck.Record) bool {
	var e encoder
	d := decoder{from: 1, npes: 4, heap: forgedHeap}
	_, err := d.record(e.record(nil, rec)[1:])
	return err == nil
}

// TestForgedBlocks: a record has no more blocks than its heap has bytes, and no byte is in two of them. So what a
// detector does with it is bounded.
func TestForgedBlocks(t *testing.T) {
	for _, x := range []struct {
		bytes, stride, count uint64
		right                bool
	}{
		{8, 16, 1000, true},
		{0, 1, 1000, true},
		{8, 8, forgedHeap / 8, true},
		{8, 0, 2, false},
		{8, 0, forgedHeap, false},
		{0, 0, forgedHeap, false},
		{8, 7, 1000, false},
		{forgedHeap / 2, 1, forgedHeap / 2, false},
		{8, 8, forgedHeap/8 + 1, false},
		{8, 1 << 63, 3, false},
		{8, 8, 1<<64 - 1, false},
	} {
		if taken := isTaken(&racecheck.Record{Bytes: x.bytes, Stride: x.stride, Count: x.count}); taken != x.right {
			t.Errorf("%d blocks of %d bytes, %d apart: taken %v", x.count, x.bytes, x.stride, taken)
		}
	}
}

// TestForgedClock: a clock has no PEs beyond those of the job.
func TestForgedClock(t *testing.T) {
	for npes := 1; npes < 8; npes++ {
		if taken := isTaken(&racecheck.Record{Access: racecheck.Access{After: racecheck.After{Clock: clockOf(npes-1, 5)}}, Count: 1}); taken != (npes <= 4) {
			t.Errorf("a clock of %d PEs in a job of 4: taken %v", npes, taken)
		}
	}
}

// TestForgedTeam: a call is one of a team that a PE can be a member of.
func TestForgedTeam(t *testing.T) {
	for slot, right := range map[int32]bool{0: true, 127: true, 128: false, 1 << 30: false} {
		rec := &racecheck.Record{Count: 1, Release: racecheck.ReleaseCall, Call: racecheck.CallKey{Slot: slot, Size: 2}}
		if taken := isTaken(rec); taken != right {
			t.Errorf("slot %d: taken %v", slot, taken)
		}
	}
}

// TestReadEnds: a sender that sends again as soon as it finds room does not keep a reader, which has other rings to
// read, and a program that goes on.
func TestReadEnds(t *testing.T) {
	const first, most = 5, 50 // there is room for more
	in := &inbox{decoder: decoder{from: 1, npes: 4, heap: minRing}, ring: make([]byte, minRing), tail: new(atomic.Uint64), head: new(atomic.Uint64), max: minRing / 2}
	var at uint64
	send := func() {
		var e encoder
		m := e.record(nil, &racecheck.Record{Count: 1, Bytes: 8})
		body := append(binary.AppendUvarint(nil, uint64(len(m))), m...)
		binary.LittleEndian.PutUint32(in.ring[at:], uint32(len(body)))
		binary.LittleEndian.PutUint32(in.ring[at+4:], sumOf(at, body))
		copy(in.ring[at+frameHead:], body)
		at += frameSize(uint64(len(body)))
		in.tail.Store(at)
	}
	for range first {
		send()
	}
	read := 0
	any, err := in.read(func(*inbox, []byte) error {
		if read++; read == most {
			return fmt.Errorf("%d messages are read at once", read)
		}
		send()
		return nil
	})
	if !any || err != nil || read != first {
		t.Errorf("%d messages of %d are read: %v, %v", read, first, any, err)
	}
}

// TestOpenQuestionsAreBounded: a PE that asks without end is not listened to. The open questions are answered in their
// order, also after those of a stream that was in use.
func TestOpenQuestionsAreBounded(t *testing.T) {
	var a asks
	for i := range uint64(mostHeard) {
		if err := a.hear(heard{from: 1, number: i}); err != nil {
			t.Fatalf("question %d: %v", i, err)
		}
	}
	if err := a.hear(heard{from: 1}); err == nil || a.open() != mostHeard {
		t.Errorf("%d questions are open: %v", a.open(), err)
	}
	some := a.first(10)
	if err := a.hear(heard{from: 1, number: mostHeard}); err != nil {
		t.Error(err)
	}
	a.again(some[5:])
	for i, h := range a.first(mostHeard) {
		if h.number != uint64(i)+5 {
			t.Fatalf("question %d is the %d. one", h.number, i)
		}
	}
	if a.open() != 0 || len(a.first(1)) != 0 {
		t.Errorf("%d questions are left", a.open())
	}
}
