package shm

// The queue of notes of a PE, which is its owner. It is bounded, and lies in the reserved start of the PE's heap: a
// circular array of entries of one cache line each. An initiator takes a ticket, fills in the entry with that
// number, and then sets the entry's state. The owner takes notes in the order of the tickets. An entry's state only
// grows, so an owner that waits for a note waits for one word to reach a value.
//
// An access takes effect in the heap before its note is visible, like any store of the initiator, so a later
// store of the initiator to the same place stays, whenever the note is taken. So a note carries no data. The
// paper's does, which saves the transfer of a cache line, but an inlined store cannot check whether an older
// put to its place is still in a note.
//
// Goroutines of the owner take notes one at a time: the lowest bit of taken is their lock.
//
// The service thread of ucx/engine fills queues too: its note_queue.c must agree with this file.

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

// queueWords is the start of a queue. Words of different writers are two cache lines apart, because CPUs fetch
// lines in pairs.
type queueWords struct {
	tail hidden // number of tickets given out; written by initiators
	_    [120]byte
	// Twice the number of notes taken, and 1 more while a goroutine of the owner takes notes. Written by the owner.
	taken atomic.Uint64
	_     [120]byte
	// Number of notes that have arrived and found no room. Written by the owner's service thread.
	overflow atomic.Uint64
	_        [120]byte
	// 1: an initiator has found the queue full. Cleared by the owner before it makes room.
	spaceWanted atomic.Uint32
	_           [124]byte
}

// entry is one note. Its state is the number of its ticket plus 1 once the note is there.
type entry struct {
	state hidden
	stamp transport.Stamp
	bytes uint64 // bytes that the access moved
	off   uint64
	_     [32]byte
}

// NoteQueue is the queue of notes of one PE, as this process sees it.
type NoteQueue struct {
	words   *queueWords
	entries *[NoteQueueCap]entry
	state   *boot.State
	places  places        // of its sources and tags, for the race detector
	seen    atomic.Uint64 // the last value of taken that this process has seen
	_       [64]byte
	next    uint64 // while locked: the ticket of the next note
	_       [56]byte
}

// ticket takes the next number if there is room for another note, and reports whether there is.
func (q *NoteQueue) ticket() (uint64, bool) {
	for {
		t := q.words.tail.Load()
		if t-q.seen.Load() >= NoteQueueCap && !q.roomFor(t) {
			return 0, false
		}
		if q.words.tail.CompareAndSwap(t, t+1) {
			return t, true
		}
	}
}

// roomFor reports whether there is room for ticket t. If there is none, it asks the owner to make some.
func (q *NoteQueue) roomFor(t uint64) bool {
	taken := hide(&q.words.taken).Load() / 2
	if t-taken >= NoteQueueCap {
		q.requestSpace()
		return false
	}
	q.seen.Store(taken)
	return true
}

// requestSpace asks the owner to make room, and wakes it unless it has been asked already.
func (q *NoteQueue) requestSpace() {
	if q.words.spaceWanted.CompareAndSwap(0, 1) {
		q.state.Wake()
	}
}

// hasRoom reports whether there is room for another note, and requests it if there is none. Another initiator may
// have taken the room when hasRoom returns. It reads the owner's cache line only if the queue may be full.
func (q *NoteQueue) hasRoom() bool {
	t := q.words.tail.Load()
	return t-q.seen.Load() < NoteQueueCap || q.roomFor(t)
}

func entryOff(t uint64) uint64 { return entriesOff + t%NoteQueueCap*entryBytes }

// Push appends the note of an access that is complete, and reports false if there is no room.
func (q *NoteQueue) Push(n transport.Note) bool {
	_, ok := q.PushAt(n)
	return ok
}

// PushAt appends a note as Push does, and returns the offset of the word that an owner waiting for the note
// watches.
func (q *NoteQueue) PushAt(n transport.Note) (off uint64, ok bool) {
	t, ok := q.ticket()
	if ok {
		q.fill(t, n)
	}
	return entryOff(t), ok
}

// fill writes n into the entry of ticket t, and wakes an owner that waits for it. An owner that sees the note also
// sees the effect of the access.
//
//go:norace
func (q *NoteQueue) fill(t uint64, n transport.Note) {
	e := &q.entries[t%NoteQueueCap]
	e.stamp, e.bytes, e.off = n.Stamp, n.Bytes, n.Off
	q.places.release(n.Stamp)
	e.state.Store(t + 1)
	q.state.Ring(entryOff(t))
}

// Lock locks the queue for its owner, which then takes notes.
func (q *NoteQueue) Lock() {
	v := q.words.taken.Load()
	if v%2 != 0 || !q.words.taken.CompareAndSwap(v, v+1) {
		q.lockSlow()
		return
	}
	q.next = v / 2
}

//go:noinline
func (q *NoteQueue) lockSlow() {
	const polls, maxSleep = 200, time.Millisecond
	for i := 0; ; i++ {
		if v := q.words.taken.Load(); v%2 == 0 && q.words.taken.CompareAndSwap(v, v+1) {
			q.next = v / 2
			return
		}
		if i < polls {
			runtime.Gosched()
		} else { // the goroutine that has the lock was stopped
			time.Sleep(min(maxSleep, time.Duration(i-polls)*time.Microsecond))
		}
	}
}

// Unlock unlocks the queue, and makes the room of the notes taken available to initiators.
func (q *NoteQueue) Unlock() { q.words.taken.Store(q.next * 2) }

// Next returns the number of the next note. The caller has locked the queue.
func (q *NoteQueue) Next() uint64 { return q.next }

// ArrivalWord returns the word of the heap that note number next sets, and the value that the word then has.
func ArrivalWord(next uint64) (word transport.Word, value uint64) {
	return transport.Word{Off: entryOff(next), Bytes: 8}, next + 1
}

// Take takes the next note, and reports false if there is none. The caller has locked the queue. The room of the note
// is free when the caller unlocks the queue. The goroutine that uses the note calls Seen.
//
//go:norace
func (q *NoteQueue) Take(n *transport.Note) bool {
	e := &q.entries[q.next%NoteQueueCap]
	if e.state.Load() != q.next+1 {
		return false
	}
	*n = transport.Note{Stamp: e.stamp, Bytes: e.bytes, Off: e.off}
	q.next++
	return true
}

// Seen orders the caller, which has got a note with this stamp, after what the note proves, for the race detector.
func (q *NoteQueue) Seen(s transport.Stamp) { q.places.acquire(s) }

// Untake puts back the note that was taken last since the queue was locked.
func (q *NoteQueue) Untake() { q.next-- }

// TakeOne takes a note as Take does, and sees it. The caller has not locked the queue.
func (q *NoteQueue) TakeOne(n *transport.Note) bool {
	q.Lock()
	defer q.Unlock()
	if !q.Take(n) {
		return false
	}
	q.Seen(n.Stamp)
	return true
}

// SpaceRequested reports whether an initiator waits for room in the queue.
func (q *NoteQueue) SpaceRequested() bool { return q.words.spaceWanted.Load() != 0 }

// ClearRequest withdraws the requests for room: the owner makes some now.
func (q *NoteQueue) ClearRequest() { q.words.spaceWanted.Store(0) }

// RequestSpace asks the owner for room.
func (q *NoteQueue) RequestSpace() { q.requestSpace() }

// Overflowed reports whether the owner's transport keeps notes that found no room.
func (q *NoteQueue) Overflowed() bool { return q.words.overflow.Load() != 0 }

// SetOverflow publishes how many notes the owner's transport keeps.
func (q *NoteQueue) SetOverflow(n int) { q.words.overflow.Store(uint64(n)) }
