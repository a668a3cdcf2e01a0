package shm

// Notes. Each PE has one bounded queue of them in the reserved start of its heap: a ring of entries of one
// cache line each. An initiator takes a ticket, fills in the entry with that number, and then sets the entry's
// state. The PE takes notes in the order of the tickets. An entry's state only grows, so a PE that waits for a
// note waits for one word to reach a value.
//
// An access takes effect in the heap before its note is visible, like any store of the initiator, so a later
// store of the initiator to the same place stays, whenever the note is taken. So a note carries no data. The
// paper's does, which saves the transfer of a cache line, but an inlined store cannot check whether an older
// put to its place is still in a note.
//
// Goroutines of the PE take notes one at a time: the lowest bit of taken is their lock.
//
// The service of ucx/engine fills rings too: its notes.c must agree with this file.

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

const (
	// NoteQueueCap is the number of notes that a queue holds.
	NoteQueueCap = 512
	// NoteQueueEnd is the offset in the heap at which the queue ends.
	NoteQueueEnd = entriesOff + NoteQueueCap*entryBytes

	wordsBytes = 4096 // of the queue's words, before its entries
	entriesOff = boot.NoteQueueOff + wordsBytes
	entryBytes = 64
)

// queueWords is the start of a ring. Words of different writers are two cache lines apart, because CPUs fetch
// lines in pairs.
type queueWords struct {
	tail atomic.Uint64 // tickets given out; written by who has a note
	_    [120]byte
	// Twice the number of notes taken, and 1 more while a goroutine of the owner takes notes.
	taken atomic.Uint64
	_     [120]byte
	// Written by the owner's service thread: notes that have arrived and found no room.
	overflow atomic.Uint64
	_        [120]byte
	// 1: somebody has found the ring full. Cleared by the owner before it makes room.
	spaceWanted atomic.Uint32
	_           [124]byte
}

// entry is one note. Its state is the number of its ticket plus 1 once the note is there.
type entry struct {
	state atomic.Uint64
	stamp transport.Stamp
	bytes uint64 // moved by the access
	off   uint64
	_     [32]byte
}

// NoteQueue is the queue of notes of one PE, as this process sees it.
type NoteQueue struct {
	words   *queueWords
	entries *[NoteQueueCap]entry
	state   *boot.State
	seen    atomic.Uint64 // taken, as this process has seen it last
	_       [64]byte
	next    uint64 // while locked: the ticket of the next note
	_       [56]byte
}

// ticket gives out a number if there is room for another note.
func (r *NoteQueue) ticket() (uint64, bool) {
	for {
		t := r.words.tail.Load()
		if t-r.seen.Load() >= NoteQueueCap && !r.roomFor(t) {
			return 0, false
		}
		if r.words.tail.CompareAndSwap(t, t+1) {
			return t, true
		}
	}
}

// roomFor says whether there is room for ticket t, and asks the owner to make some if there is none.
func (r *NoteQueue) roomFor(t uint64) bool {
	taken := r.words.taken.Load() / 2
	if t-taken >= NoteQueueCap {
		r.requestSpace()
		return false
	}
	r.seen.Store(taken)
	return true
}

// requestSpace asks the owner to make room, should it sleep.
func (r *NoteQueue) requestSpace() {
	if r.words.spaceWanted.CompareAndSwap(0, 1) {
		r.state.Wake()
	}
}

// hasRoom says whether there is room for another note, and asks for it if not. There need not be any more
// when it returns. What the owner has taken is looked at when it matters only: the line is the owner's.
func (r *NoteQueue) hasRoom() bool {
	t := r.words.tail.Load()
	return t-r.seen.Load() < NoteQueueCap || r.roomFor(t)
}

func entryOff(t uint64) uint64 { return entriesOff + t%NoteQueueCap*entryBytes }

// Push leaves a note of an access that is over, and reports false if there is no room.
func (r *NoteQueue) Push(n transport.Note) bool {
	_, ok := r.PushAt(n)
	return ok
}

// PushAt is Push that returns where the word is that the owner waits for.
func (r *NoteQueue) PushAt(n transport.Note) (off uint64, ok bool) {
	t, ok := r.ticket()
	if ok {
		r.fill(t, n)
	}
	return entryOff(t), ok
}

// fill leaves n under ticket t. A PE that sees the note also sees the effect of the access. It wakes the owner.
func (r *NoteQueue) fill(t uint64, n transport.Note) {
	e := &r.entries[t%NoteQueueCap]
	e.stamp, e.bytes, e.off = n.Stamp, n.Bytes, n.Off
	e.state.Store(t + 1)
	r.state.Ring(entryOff(t))
}

// Lock locks the ring, for taking notes.
func (r *NoteQueue) Lock() {
	v := r.words.taken.Load()
	if v%2 != 0 || !r.words.taken.CompareAndSwap(v, v+1) {
		r.lockSlow()
		return
	}
	r.next = v / 2
}

//go:noinline
func (r *NoteQueue) lockSlow() {
	const looks, mostNap = 200, time.Millisecond
	for i := 0; ; i++ {
		if v := r.words.taken.Load(); v%2 == 0 && r.words.taken.CompareAndSwap(v, v+1) {
			r.next = v / 2
			return
		}
		if i < looks {
			runtime.Gosched()
		} else { // the goroutine that has the lock was stopped
			time.Sleep(min(mostNap, time.Duration(i-looks)*time.Microsecond))
		}
	}
}

// Unlock gives the ring back, and room to others.
func (r *NoteQueue) Unlock() { r.words.taken.Store(r.next * 2) }

// Next is the number of the next note. The caller has locked the ring.
func (r *NoteQueue) Next() uint64 { return r.next }

// ArrivalWord says which word of the heap reaches which value when note number next has arrived.
func ArrivalWord(next uint64) (at transport.Word, value uint64) {
	return transport.Word{Off: entryOff(next), Bytes: 8}, next + 1
}

// Take takes the next note, and reports false if there is none. The caller has locked the ring, and there
// is room for others when it unlocks it.
func (r *NoteQueue) Take(n *transport.Note) bool {
	e := &r.entries[r.next%NoteQueueCap]
	if e.state.Load() != r.next+1 {
		return false
	}
	*n = transport.Note{Stamp: e.stamp, Bytes: e.bytes, Off: e.off}
	r.next++
	return true
}

// Untake puts back the last note that was taken since the ring was locked.
func (r *NoteQueue) Untake() { r.next-- }

// TakeOne is Take of who has not locked the ring.
func (r *NoteQueue) TakeOne(n *transport.Note) bool {
	r.Lock()
	defer r.Unlock()
	return r.Take(n)
}

// SpaceRequested says whether somebody waits for room in the ring.
func (r *NoteQueue) SpaceRequested() bool { return r.words.spaceWanted.Load() != 0 }

// ClearRequest notes that the owner makes room now.
func (r *NoteQueue) ClearRequest() { r.words.spaceWanted.Store(0) }

// RequestSpace asks the owner for room.
func (r *NoteQueue) RequestSpace() { r.requestSpace() }

// Overflowed says whether notes have arrived that found no room: the transport of the PE has them.
func (r *NoteQueue) Overflowed() bool { return r.words.overflow.Load() != 0 }

// SetOverflow says how many notes wait for room elsewhere.
func (r *NoteQueue) SetOverflow(n int) { r.words.overflow.Store(uint64(n)) }
